import { expect, it } from 'vitest';
import { type CreateRegistry, ok, untyped } from '../registry/batch.js';
import { stringsIn } from './encoders.js';
import { runCall } from './secret-world.js';

/** Refs that the declarations `key` and `folder/*` don't cover. */
const OTHER_REFS = [
  'other',
  'KEY',
  'key ',
  ' key',
  'key\0',
  'key\n',
  'key/',
  'key/x',
  '/key',
  './key',
  '../key',
  'folder',
  'folder/',
  'folder//x',
  'folder/.',
  'folder/..',
  'folder/../key',
  'folder/../../etc/passwd',
  'folder\\x',
  'folder/x\\..\\y',
  'folder/%2e%2e/y',
  'folder/*',
  'FOLDER/x',
  '*',
  '**',
  'k?y',
  'ke[y]',
  '',
  '\u212aey',
  `folder/${'x'.repeat(1_000)}`,
  '__proto__',
  'constructor',
];

const SECRET = 'hunter2-hunter2-hunter2';

/** Attacks that get secrets which are not declared, or make the backend reveal other facts. */
export function refAttacks(create: CreateRegistry): void {
  it.each(['get', 'handle'] as const)(
    '%s refuses every ref that is not declared',
    async (method) => {
      for (const ref of OTHER_REFS) {
        const asked: string[] = [];
        const { result, audit } = await runCall(create, {
          value: SECRET,
          capabilities: { secrets: ['key', 'folder/*'] },
          backends: {
            secretsBackend: async (one) => {
              asked.push(one);
              return SECRET;
            },
          },
          execute: async (ctx) => ok((await ctx.secretsResolver?.[method](ref)) ?? ''),
        });
        expect(result, ref).toMatchObject({
          ok: false,
          error: expect.stringMatching(/^SECRET_NOT_DECLARED: /),
        });
        expect(asked, ref).toEqual([]);
        expect(audit, ref).toMatchObject([{ capability: 'secrets', decision: 'denied' }]);
      }
    },
  );

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error(`/home/user/.secrets/key holds ${SECRET}`);
      },
    ],
    ['rejects', () => Promise.reject(new Error(`/home/user/.secrets/key holds ${SECRET}`))],
    ['rejects with a text', () => Promise.reject(SECRET)],
    ['gives an object', async () => ({ value: SECRET })],
    ['gives a list', async () => [SECRET]],
    ['gives nothing', async () => undefined],
  ])(
    'says that it failed, or has none, and no more, when the backend %s',
    async (_name, backend) => {
      const outcome = await runCall(create, {
        value: SECRET,
        backends: { secretsBackend: async () => untyped(await backend()) },
        execute: async (ctx) => ok((await ctx.secretsResolver?.get('key')) ?? ''),
      });
      expect(outcome.result).toMatchObject({
        ok: false,
        error: expect.stringMatching(
          /^(SECRETS_UNAVAILABLE: the secrets backend failed|SECRET_NOT_FOUND: the secrets backend has no value) /,
        ),
      });
      expect(stringsIn(outcome)).not.toContain(SECRET);
      expect(stringsIn(outcome)).not.toContain('/home/user');
    },
  );
}
