import { truncationMarker } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeTool, ok, rejection, runOne, untyped } from '../testing/batch.js';
import { DefaultToolRegistry } from '../tool-registry.js';
import { ScopedSecretsImpl } from './scoped-secrets.js';

function resolver(...declared: string[]) {
  const asked: string[] = [];
  const backend = async (ref: string) => {
    asked.push(ref);
    return `value of ${ref}`;
  };
  return { secrets: new ScopedSecretsImpl(new Set(declared), backend), asked };
}

describe('ScopedSecretsImpl.get', () => {
  it.each([
    ['STRIPE_KEY', ['OTHER_KEY']],
    ['stripe_key', ['STRIPE_KEY']],
    ['STRIPE_KEY ', ['STRIPE_KEY']],
    ['STRIPE_KEY\0', ['STRIPE_KEY']],
    ['STRIPE_KEY\n', ['STRIPE_KEY']],
    ['', ['*', '']],
    ['a', ['a/*']],
    ['a/', ['a/*']],
    ['a//b', ['a/*']],
    ['a/../b', ['a/*', 'b']],
    ['a/./b', ['a/*']],
    ['../a', ['../a', '*']],
    ['/a', ['/a']],
    ['a\\b', ['a\\b', 'a/b']],
    ['a/*', ['a/*']],
    ['*', ['*']],
    ['a/?', ['a/*']],
    ['ab/c', ['a/*']],
    ['a/%2e%2e/b', ['a/*']],
    ['__proto__', ['a']],
    ['а', ['a']],
    [`a/${'x'.repeat(600)}`, ['a/*']],
  ])('refuses %j where %j is declared, and does not ask the backend', async (ref, declared) => {
    const { secrets, asked } = resolver(...declared);
    expect(await rejection(secrets.get(ref))).toMatchObject({
      code: 'SECRET_NOT_DECLARED',
      message: expect.stringContaining(
        `SECRET_NOT_DECLARED: ${ref} is not in the tool's declared secrets`,
      ),
    });
    expect(asked).toEqual([]);
  });

  it.each([
    ['providers/openweather/apiKey', ['providers/openweather/apiKey']],
    ['STRIPE_KEY', ['STRIPE_KEY']],
    ['a/b', ['a/*']],
    ['a/b/c', ['a/*']],
    ['a.b:c@d+e-f_1', ['a.b:c@d+e-f_1']],
    ['__proto__', ['__proto__']],
  ])('resolves %j where %j is declared', async (ref, declared) => {
    const { secrets, asked } = resolver(...declared);
    expect(await secrets.get(ref)).toBe(`value of ${ref}`);
    expect(asked).toEqual([ref]);
  });

  it('asks the backend for no ref that is not declared, whatever it is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), async (ref) => {
        const { secrets, asked } = resolver('declared', 'folder/*');
        await secrets.get(ref).catch(() => {});
        return asked.every((it) => it === 'declared' || /^folder\/[^/]/.test(it));
      }),
    );
  });

  it.each<[string, () => unknown]>([
    ['has none', async () => undefined],
    ['answers null', async () => null],
    ['answers an object', async () => ({ value: 'hunter2222' })],
  ])('says a plain SECRET_NOT_FOUND when the backend %s', async (_name, backend) => {
    const secrets = new ScopedSecretsImpl(new Set(['key']), untyped(backend));
    expect(await rejection(secrets.get('key'))).toMatchObject({
      code: 'SECRET_NOT_FOUND',
      message:
        'SECRET_NOT_FOUND: the secrets backend has no value for key; ask the operator to set it',
    });
  });

  it.each<[string, () => unknown]>([
    [
      'throws with a path and a value in its message',
      () => {
        throw new Error('/home/user/.secrets/key holds hunter2222');
      },
    ],
    ['rejects with a value', () => Promise.reject('hunter2222')],
    ['rejects with nothing', () => Promise.reject(undefined)],
    ['rejects with a code', () => Promise.reject(Object.assign(new Error(''), { code: 'EACCES' }))],
  ])('says that the backend failed, and not what it said, when it %s', async (_name, backend) => {
    const secrets = new ScopedSecretsImpl(new Set(['key']), untyped(backend));
    const error = await rejection(secrets.get('key'));
    expect(error).toMatchObject({
      code: 'SECRETS_UNAVAILABLE',
      message: expect.stringMatching(/^SECRETS_UNAVAILABLE: the secrets backend failed .*key;/),
    });
    expect(String(error)).not.toMatch(/hunter|home|EACCES|no value/);
  });

  it('keeps what the backend said as the cause, for the operator', async () => {
    const cause = new Error('the vault is sealed');
    const secrets = new ScopedSecretsImpl(new Set(['key']), () => Promise.reject(cause));
    expect(await rejection(secrets.get('key'))).toMatchObject({ cause });
  });
});

const SECRET = 'sk-live/4f+9Z "q"';
const BASE64 = Buffer.from(`user:${SECRET}`).toString('base64');

describe('a secret that a call resolved does not leave it', () => {
  async function run(
    leak: (secret: string, emit: (message: string) => void) => unknown,
    others: Record<string, string> = {},
  ) {
    const messages: string[] = [];
    const registry = new DefaultToolRegistry({
      secretsBackend: async (ref) => others[ref] ?? SECRET,
    });
    registry.register(
      makeTool(
        'leaky',
        async (_args, ctx) => {
          const secret = (await ctx.secretsResolver?.get('key')) ?? '';
          for (const ref of Object.keys(others)) await ctx.secretsResolver?.get(ref);
          return leak(secret, (message) =>
            ctx.emit({ type: 'progress', toolName: 'leaky', message }),
          );
        },
        { capabilities: { secrets: ['key', ...Object.keys(others)] } },
      ),
    );
    const result = await runOne(
      registry,
      'leaky',
      {},
      { emit: ({ message }) => messages.push(message) },
    );
    return { result, messages };
  }

  it.each<[string, (secret: string) => unknown, unknown]>([
    ['the value', (secret) => ok(`key=${secret};`), ok('key=[secret:key];')],
    [
      'a Basic header in the value',
      () => ok(`Basic ${BASE64}`),
      ok(expect.stringMatching(/^Basic .{0,9}\[secret:key\].{0,3}$/)),
    ],
    ['hex in the value', (secret) => ok(Buffer.from(secret).toString('hex')), ok('[secret:key]')],
    [
      'a URL in the value',
      (secret) => ok(`https://x/?k=${encodeURIComponent(secret)}&a=1`),
      ok('https://x/?k=[secret:key]&a=1'),
    ],
    [
      'the error',
      (secret) => ({ ok: false, error: `401 for ${secret}`, code: 'not_available' }),
      { ok: false, error: '401 for [secret:key]', code: 'not_available' },
    ],
    [
      'structured, values and keys',
      (secret) => ({ ok: true, value: 'v', structured: { [secret]: { list: [secret] } } }),
      { ok: true, value: 'v', structured: { '[secret:key]': { list: ['[secret:key]'] } } },
    ],
    [
      'a thrown error',
      (secret) => {
        throw new Error(`can not open /tmp/${secret}`);
      },
      { ok: false, code: 'execution_failed', error: 'can not open /tmp/[secret:key]' },
    ],
    [
      'a thrown string',
      (secret) => Promise.reject(secret),
      { ok: false, code: 'execution_failed', error: '[secret:key]' },
    ],
    [
      'a result that can not be read',
      (secret) => ({
        get ok() {
          throw new Error(secret);
        },
      }),
      {
        ok: false,
        code: 'execution_failed',
        error: expect.not.stringContaining('sk-live'),
        cause: 'TOOL_INVALID',
      },
    ],
    [
      'honest text, which stays',
      () => ok('sk-live is a prefix; 4f+9Z is not a secret'),
      ok('sk-live is a prefix; 4f+9Z is not a secret'),
    ],
  ])('in %s', async (_name, leak, expected) => {
    expect((await run(leak)).result).toEqual(expected);
  });

  it('in a progress event', async () => {
    const { messages } = await run((secret, emit) => {
      emit(`using ${secret}`);
      emit(`using ${encodeURIComponent(secret)}`);
      return ok('done');
    });
    expect(messages).toEqual(['using [secret:key]', 'using [secret:key]']);
  });

  it('in several progress events that follow each other', async () => {
    const { messages } = await run((secret, emit) => {
      emit(`first ${secret.slice(0, 6)}`);
      emit(`${secret.slice(6)} then`);
      for (const piece of [secret.slice(0, 4), secret.slice(4, 9), secret.slice(9)]) emit(piece);
      // It does not go on, and other text comes.
      emit(`again ${secret.slice(0, 8)}`);
      emit(`as before ${secret}`);
      return ok('done');
    });
    expect(messages).toEqual([
      'first …',
      '[secret:key] then',
      '…',
      '…',
      '[secret:key]',
      'again …',
      'as before [secret:key]',
    ]);
  });

  it('in progress events with escape sequences of terminals', async () => {
    const lines = '-----BEGIN KEY-----\r\nfirst line\r\n-----END KEY-----';
    const { messages } = await run(
      (secret, emit) => {
        emit(`\u001b[1m${secret.slice(0, 6)}\u001b[0m${secret.slice(6)}`);
        // Without what is cleaned away, it is the start of the secret.
        emit(`begins ${secret.slice(0, 8)}\u001b[0m`);
        emit(`${secret.slice(8)}\u200b.`);
        emit(`\u001b[31m${lines}`);
        return ok('done');
      },
      { lines },
    );
    expect(messages).toEqual(['[secret:key]', 'begins …', '[secret:key].', '[secret:lines]']);
  });

  it('in several progress events, though another secret seemed to begin before it', async () => {
    const { messages } = await run(
      (_, emit) => {
        emit('first abcab');
        emit('NEXT-9137 then');
        return ok('done');
      },
      { long: 'abcabXYZ-4711', other: 'bcabNEXT-9137' },
    );
    expect(messages).toEqual(['first …', '[secret:other] then']);
  });

  it('in a cut value: the cut comes after', async () => {
    const registry = new DefaultToolRegistry({ secretsBackend: async () => SECRET });
    registry.register(
      makeTool('leaky', async (_args, ctx) => ok(`${await ctx.secretsResolver?.get('key')}`), {
        capabilities: { secrets: ['key'] },
        maxResultChars: 8,
      }),
    );
    expect(await runOne(registry, 'leaky')).toEqual(ok(`[secret:${truncationMarker(12)}`));
  });

  it('and a call that did not resolve it is left alone', async () => {
    const registry = new DefaultToolRegistry({ secretsBackend: async () => SECRET });
    registry.register(makeTool('other', () => ok(SECRET)));
    expect(await runOne(registry, 'other')).toEqual(ok(SECRET));
  });

  it('passes on what a backend says in an error made for it', async () => {
    const backend = async () => {
      throw new EthosError('SECRET_NOT_FOUND', 'a/k: other users may read its file; chmod 600');
    };
    expect(
      await rejection(new ScopedSecretsImpl(new Set(['a/k']), backend).get('a/k')),
    ).toMatchObject({
      message: 'SECRET_NOT_FOUND: a/k: other users may read its file; chmod 600',
    });
  });
});
