import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fuzz } from '@ethosagent/conformance/fuzz';
import { FsStorage } from '@ethosagent/storage-fs';
import type { ToolCapabilities, ToolContext } from '@ethosagent/types';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { ApprovalRequest } from './approval.js';
import type { PersonalityPolicy } from './backends.js';
import type { BeforeCall, CallHooks } from './call-hooks.js';
import { batchContext, makeTool, ok, untyped } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'narrowing-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));
for (const folder of ['a/b', 'a/c', 'd']) {
  mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, folder, 'file'), folder);
}
writeFileSync(join(root, 'a', 'new'), 'a');
// A link that a tool may have planted. It leads from the tool's own folder to one that the
// personality reaches.
symlinkSync(join(root, 'd'), join(root, 'a', 'link'));

const capabilities: ToolCapabilities = {
  network: { allowedHosts: ['*.test', 'api.com', '*.net:6379'] },
  secrets: ['key', 'keys/*'],
  fs_reach: { read: [join(root, 'a'), join(root, 'd')], write: [join(root, 'a')] },
  process: { allowedBinaries: ['true', 'false'] },
};
const policy: PersonalityPolicy = {
  fs_reach: { read: [root], write: [root] },
  safety: { network: { allow: ['*.test', 'api.com', 'db.net:6379'], deny: ['bad.test'] } },
};

interface Tried {
  /** The accesses that were allowed. */
  reached: Set<string>;
  /** What the approver was shown. */
  shown: string;
  ran: boolean;
}

const URLS = [
  'https://a.test/',
  'https://bad.test/',
  'https://api.com/',
  'http://db.net:6379/',
  'http://a.test:6379/',
  'http://127.0.0.1/',
];
const PATHS = ['a/b/file', 'a/c/file', 'a/link/file', 'd/file', 'a/new', 'd/new'].map((path) =>
  join(root, path),
);

/** Tries every access in one call. */
async function tried(hooks: CallHooks): Promise<Tried> {
  const reached = new Set<string>();
  let shown = '';
  let ran = false;
  const registry = new DefaultToolRegistry(
    {
      storage: new FsStorage(),
      secretsBackend: async () => 'hunter2222',
      personality: () => policy,
      fetch: async () => new Response('fine'),
      lookup: async () => [{ address: '93.184.216.34' }],
      approve: ({ capabilities: asked }: ApprovalRequest) => {
        shown = JSON.stringify(asked);
        return true;
      },
    },
    undefined,
    hooks,
  );
  const note = (what: string, done: Promise<unknown> | undefined) =>
    Promise.resolve(done).then(
      () => reached.add(what),
      () => {},
    );
  const run = async (_: unknown, ctx: ToolContext) => {
    ran = true;
    const { scopedFetch, scopedFs, storage, secretsResolver, scopedProcess } = ctx;
    for (const url of URLS) await note(url, scopedFetch?.fetch(url));
    for (const path of PATHS) {
      await note(`read ${path}`, scopedFs?.read(path));
      await note(
        `view ${path}`,
        storage?.read(path).then((text) => text ?? Promise.reject()),
      );
      await note(`write ${path}`, scopedFs?.write(path, 'x'));
    }
    for (const ref of ['key', 'keys/a', 'other']) {
      await note(`secret ${ref}`, secretsResolver?.get(ref));
    }
    for (const binary of ['true', 'rm']) await note(binary, scopedProcess?.spawn(binary, []));
    for (const cwd of [join(root, 'a/b'), join(root, 'a/link'), join(root, 'd')]) {
      await note(`true in ${cwd}`, scopedProcess?.spawn('true', [], { cwd }));
    }
    return ok('done');
  };
  registry.register(makeTool('agent', run, { capabilities, requiresApproval: true }));
  await registry.executeParallel(
    [{ toolCallId: 'c', name: 'agent', args: {} }],
    batchContext({ storage: new FsStorage(), workingDir: join(root, 'a') }),
  );
  return { reached, shown, ran };
}

const hosts = fc.constantFrom(
  '*',
  '*.test',
  'a.test',
  'api.com',
  'db.net:6379',
  '*:6379',
  '127.0.0.1',
  'a.test:6379',
);
const folder = fc
  .constantFrom('', 'a', 'a/b', 'a/link', 'd', 'none')
  .map((path) => join(root, path));
const list = (entry: fc.Arbitrary<string>) => fc.array(entry, { maxLength: 3 });
const narrow = fc.record(
  {
    hosts: list(hosts),
    read: list(folder),
    write: list(folder),
    secrets: list(fc.constantFrom('key', 'keys/*', 'keys/a', 'other', 'other/*')),
    binaries: list(fc.constantFrom('*', 'true', 'rm')),
  },
  { requiredKeys: [] },
);
const answer = fc.oneof(
  { weight: 6, arbitrary: fc.record({ narrow }) },
  { weight: 1, arbitrary: fc.record({ narrow, ask: fc.string() }) },
  { weight: 1, arbitrary: fc.record({ refuse: fc.string() }) },
  { weight: 1, arbitrary: fc.constant(undefined) },
  { weight: 2, arbitrary: fc.anything() },
  { weight: 2, arbitrary: fc.record({ narrow: fc.anything() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      narrow: fc.dictionary(fc.constantFrom('hosts', 'host', 'read'), fc.anything()),
    }),
  },
);
const said = (value: unknown): BeforeCall | undefined => untyped(value);

describe('beforeCall, whatever it says', () => {
  fuzz(
    'never lets a call reach what it would not have reached without it',
    fc.array(answer, { minLength: 1, maxLength: 3 }),
    async (answers) => {
      const whole = await tried({});
      const left = await tried({ beforeCall: answers.map((value) => () => said(value)) });
      expect([...left.reached].filter((what) => !whole.reached.has(what))).toEqual([]);
    },
    { runs: { check: 4, nightly: 100, long: 1_000 } },
  );
});

describe('beforeCall that narrows', () => {
  it('leaves of each kind what is in its list', async () => {
    const { reached, shown } = await tried({
      beforeCall: () => ({
        narrow: {
          hosts: ['a.test', '*.com', '*:6379'],
          read: [join(root, 'a', 'b'), join(root, 'd')],
          write: [join(root, 'a', 'c')],
          secrets: ['keys/*'],
          binaries: ['true', 'rm'],
        },
      }),
    });
    expect([...reached].sort()).toEqual(
      [
        'https://a.test/',
        'https://api.com/',
        'http://db.net:6379/',
        `read ${root}/a/b/file`,
        `read ${root}/d/file`,
        `view ${root}/a/b/file`,
        `view ${root}/d/file`,
        `write ${root}/a/c/file`,
        'secret keys/a',
        'true',
        `true in ${root}/a/b`,
        `true in ${root}/d`,
      ].sort(),
    );
    // The approver sees what is left after the narrowing.
    expect(JSON.parse(shown)).toMatchObject({
      network: { allowedHosts: ['*.test:6379', 'a.test', 'api.com', 'db.net:6379'] },
      fs_reach: { read: [`${root}/a/b`, `${root}/d`], write: [`${root}/a/c`] },
      secrets: ['keys/*'],
      process: { allowedBinaries: ['true'] },
    });
  });
});
