import { keyValueConformance } from '@ethosagent/conformance';
import {
  type KeyValueProcesses,
  keyValueAttacks,
  startScript,
} from '@ethosagent/conformance/attacks';
import { ALIKE_TEXTS, bundleScript, isLongRun, startRedis } from '@ethosagent/test-support';
import { errorCodeOf } from '@ethosagent/types';
import { createClient } from '@redis/client';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createRedisStores } from './redis-stores.js';

const redis = await startRedis();
afterAll(() => redis.stop());
const work = await bundleScript(new URL('./fixtures/work.ts', import.meta.url));

let prefixes = 0;
const newPrefix = () => `test${prefixes++}`;

async function backendOf(options: { prefix?: string; clock?: () => number; url?: string } = {}) {
  const stores = createRedisStores({
    url: redis.path,
    prefix: newPrefix(),
    // A busy machine may be slow.
    timeoutMs: 900_000,
    ...options,
  });
  const { store, close, problem } = await stores.keyValue.open();
  return {
    kvStoreFactory: store,
    kv: store('test', 'scope'),
    close: async () => close?.(),
    problem: async () => problem?.(),
  };
}

keyValueConformance('createRedisStores().keyValue', ({ clock }) => backendOf({ clock }));
if (isLongRun()) {
  keyValueAttacks('createRedisStores().keyValue', ({ clock }) => backendOf({ clock }), {
    processes,
  });
}

function processes(): KeyValueProcesses {
  const prefix = newPrefix();
  return {
    open: () => backendOf({ prefix }),
    startCounter: (id, turns) =>
      startScript(work, { args: ['count', redis.path, prefix, id, String(turns)] }),
    startWriter: (id) => startScript(work, { args: ['write', redis.path, prefix, id] }),
  };
}

describe('createRedisStores', () => {
  it.each([
    { url: 'http://localhost' },
    { url: 'localhost:6379' },
    { url: 7 },
    { url: '/s', prefix: '' },
    { url: '/s', prefix: 'a{b' },
    { url: '/s', timeoutMs: 0 },
    { url: '/s', timeoutMs: 2 ** 31 },
  ])('refuses the options %j as CONFIG_INVALID', (options) => {
    expect(() => Reflect.apply(createRedisStores, undefined, [options])).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID' }),
    );
  });

  // The attacks of the long run have more of these, in every pair.
  it('keeps scope ids and keys apart that look alike', async () => {
    const { kvStoreFactory, close } = await backendOf();
    onTestFinished(async () => close?.());
    const stores = ALIKE_TEXTS.map((id) => kvStoreFactory('test', `alike ${id}`));
    await Promise.all(
      stores.flatMap((kv, at) => ALIKE_TEXTS.map((key) => kv.set(key, `${at} ${key}`))),
    );
    for (const [at, kv] of stores.entries()) {
      const values = await Promise.all(ALIKE_TEXTS.map((key) => kv.get(key)));
      expect(values).toEqual(ALIKE_TEXTS.map((key) => `${at} ${key}`));
      const prefix = ALIKE_TEXTS[at] ?? '';
      const found = ALIKE_TEXTS.filter((key) => key.startsWith(prefix));
      expect((await kv.list(prefix)).sort()).toEqual(found.sort());
    }
  });

  it('leaves nothing on the server when all that it kept has expired', async () => {
    const prefix = newPrefix();
    const { kv, close } = await backendOf({ prefix });
    onTestFinished(close);
    await kv.set('short', 'v', { ttlSeconds: 0.05 });
    await kv.set('longer', 'v', { ttlSeconds: 0.1 });
    const raw = createClient({ socket: { path: redis.path, tls: false } });
    await raw.connect();
    onTestFinished(() => raw.destroy());
    await expect.poll(() => raw.keys(`${prefix}:*`), { timeout: 600_000 }).toEqual([]);
    await kv.set('short', 'v', { ttlSeconds: 0.05 });
    await kv.set('kept', 'v');
    await expect.poll(() => kv.list(''), { timeout: 600_000 }).toEqual(['kept']);
    expect(await raw.pExpireTime(`${prefix}:{scope}:values`)).toBe(-1);
  });

  it('keeps no password and no path in what it says of a server that is away', async () => {
    const url = 'redis://someone:hunter2@127.0.0.1:1/0';
    const open = async () => createRedisStores({ url, timeoutMs: 200 }).keyValue.open();
    const errors: Error[] = [];
    // On a busy machine, the time may end before the refusal comes.
    await vi.waitFor(
      async () => {
        const error = await open().catch((error) => error);
        errors.push(error);
        expect(error.message).toContain('ECONNREFUSED');
      },
      { timeout: 600_000 },
    );
    for (const error of errors) {
      expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
      expect(error.message).toMatch(/Redis at 127\.0\.0\.1:1 did not answer .* can be reached$/);
      expect(error.message).not.toContain('hunter2');
    }
  });

  it('says what to do where the server wants a password', async () => {
    const server = await startRedis(['--requirepass', 'hunter2']);
    onTestFinished(() => server.stop());
    const opened = createRedisStores({ url: server.path, timeoutMs: 900_000 }).keyValue.open();
    await expect(opened).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('give a user and a password in the URL'),
    });
  });

  it('runs its script where the server forgot it', async () => {
    const { kv, close } = await backendOf();
    onTestFinished(close);
    await kv.set('k', '1');
    const raw = createClient({ socket: { path: redis.path, tls: false } });
    await raw.connect();
    await raw.scriptFlush();
    raw.destroy();
    expect(await Promise.all([kv.increment?.('k'), kv.get('k')])).toEqual([2, '2']);
  });

  it('refuses calls after it was closed', async () => {
    const { kv, close } = await backendOf();
    await close();
    await close();
    await expect(kv.get('k')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });
});

/** Opens key-value stores that give a call up after 300 milliseconds. */
async function openImpatient(url: string) {
  // The limit also applies to opening, and a busy machine may reach it.
  const { store, close } = await vi.waitFor(
    async () => createRedisStores({ url, timeoutMs: 300 }).keyValue.open(),
    { timeout: 600_000 },
  );
  onTestFinished(() => close?.());
  return store;
}

describe('a Redis that ends', () => {
  it('fails calls until it is back, and has what it acknowledged', async () => {
    const server = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always']);
    onTestFinished(() => server.stop());
    const { kv, close, problem } = await backendOf({ url: server.path });
    onTestFinished(close);
    await kv.set('k', 'v');
    expect(await problem()).toBeUndefined();
    await server.end('SIGKILL');
    const impatient = createRedisStores({ url: server.path, timeoutMs: 100 }).keyValue.open();
    await expect(impatient).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    // The calls are made while the server is away, and answered when it is back.
    const asked = Promise.all([kv.increment?.('n'), kv.get('k'), kv.increment?.('n')]);
    await server.start();
    expect(await asked).toEqual([1, 'v', 2]);
  });

  it('makes no write twice, whenever it ends', async () => {
    const server = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always']);
    onTestFinished(() => server.stop());
    const { kv, close } = await backendOf({ url: server.path });
    onTestFinished(close);
    for (let round = 0; round < (isLongRun() ? 3 : 1); round++) {
      const before = Number(await kv.get('n'));
      const calls = Array.from({ length: 200 }, () => kv.increment?.('n'));
      const ended = Promise.allSettled(calls);
      await calls[0];
      await server.end('SIGKILL');
      const settled = await ended;
      await server.start();
      const acknowledged = settled.filter(({ status }) => status === 'fulfilled').length;
      const after = Number(await kv.get('n'));
      expect(after - before).toBeGreaterThanOrEqual(acknowledged);
      expect(after - before).toBeLessThanOrEqual(calls.length);
    }
  });

  it('gets no call later that was given up while it was away', async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const store = await openImpatient(server.path);
    const kv = store('t', 's');
    await server.end('SIGKILL');
    // The first ones may be sent before the client knows. Of those a write may have been made.
    const said = () => kv.increment?.('n').then(String, ({ message }: Error) => message);
    await expect.poll(said, { timeout: 600_000 }).toMatch(/can be reached$/);
    await server.start();
    const read = () => kv.get('n').catch(errorCodeOf);
    await expect.poll(read, { timeout: 600_000 }).not.toBe('STORE_UNAVAILABLE');
    expect(await read()).toBeNull();
  });

  it('has no other time limit than timeoutMs, in the client either', async () => {
    const limits = vi.spyOn(AbortSignal, 'timeout');
    onTestFinished(() => limits.mockRestore());
    const { kv, close } = await backendOf();
    onTestFinished(close);
    await kv.set('k', 'v');
    expect(new Set(limits.mock.calls.flat())).toEqual(new Set([900_000]));
  });

  it('knows the script before the first call, so that none is overtaken by the next', async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const { kv, close } = await backendOf({ url: server.path });
    onTestFinished(close);
    await Promise.all([kv.set('k', 'v'), kv.set('k', 'w')]);
    const client = createClient({ socket: { path: server.path, tls: false } });
    await client.connect();
    onTestFinished(() => client.destroy());
    const stats = String(await client.sendCommand(['INFO', 'commandstats']));
    // A call that has to bring the script is an EVAL.
    expect(stats).toMatch(/^cmdstat_evalsha:calls=2,.*failed_calls=0\r$/m);
    expect(stats).not.toMatch(/^cmdstat_eval:/m);
  });

  it('that does not answer is given up after timeoutMs', async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const store = await openImpatient(server.path);
    server.signal('SIGSTOP');
    await expect(store('t', 's').set('k', 'v')).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('The write may have been made'),
    });
    server.signal('SIGCONT');
    // So it does to this read.
    const read = () => store('t', 's').get('k').catch(errorCodeOf);
    await expect.poll(read, { timeout: 600_000 }).toBe('v');
  });
});
