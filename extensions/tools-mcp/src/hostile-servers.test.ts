import { inCheck, isLongRun, tries } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { createWorld, fixture, NODE, type World, type WorldOptions } from './fixtures/world.js';

const hostile = (mode: string, ...more: string[]) => ({
  command: NODE,
  args: [fixture('hostile'), mode, ...more],
});

async function start(mode: string, options: Partial<WorldOptions> = {}): Promise<World> {
  const world = createWorld({ servers: { h: hostile(mode) }, ...options });
  await world.bridge.start();
  return world;
}

const MB = 1_000_000;

describe('a server that does not connect', () => {
  const kinds = [
    ['never answers', 'silent', 'no answer within 1 s'],
    ['reads nothing', 'deaf', 'no answer within 1 s'],
    ['ends at once', 'die', 'exited with code 2; its last words: no licence'],
    ['speaks another version', 'version', 'protocol version is not supported: 1999-01-01'],
    ['writes one endless line', 'endless-line', 'a message that is too long'],
    ['writes endless lines', 'endless-lines', 'no answer within 1 s'],
  ] as const;
  it.each(inCheck(kinds, ([, mode]) => ['silent', 'die', 'endless-line'].includes(mode)))(
    'that %s is told with its reason, in bounded memory',
    async (_name, mode, reason) => {
      const before = process.memoryUsage().rss;
      const connectTimeoutMs = reason === 'no answer within 1 s' ? 1_000 : 20_000;
      const world = await start(mode, { limits: { connectTimeoutMs, restartDelayMs: 60_000 } });
      const [status] = world.bridge.status();
      expect(status).toMatchObject({ state: 'waiting', reason: expect.stringContaining(reason) });
      expect(process.memoryUsage().rss - before).toBeLessThan(300 * MB);
    },
  );

  it('can not be started at all', async () => {
    const world = createWorld({
      servers: {
        gone: { command: 'no-such-program-here' },
        env: { ...hostile('plain'), env: { NODE_OPTIONS: '-r x' } },
      },
    });
    const [gone, env] = await world.bridge.start();
    expect(gone).toMatchObject({ state: 'held', reason: expect.stringContaining('SPAWN_FAILED') });
    expect(env).toMatchObject({
      state: 'held',
      reason: expect.stringContaining('BINARY_NOT_ALLOWED'),
    });
  });
});

describe('a server that misbehaves', () => {
  const odd = [
    ['writes noise before it speaks', 'noise'],
    ['writes to its standard error without end', 'endless-stderr'],
    ['ignores the request to end', 'stubborn'],
  ] as const;
  it.each(inCheck(odd, ([, mode]) => mode === 'noise'))(
    'and %s works all the same',
    async (_name, mode) => {
      const world = await start(mode);
      expect(await world.call('mcp__h__echo', { text: 'a' })).toMatchObject({
        ok: true,
        value: 'echo a',
      });
    },
  );

  it.runIf(isLongRun())('has a message of 100 MB cut off, and is started again', async () => {
    const world = await start('plain', { limits: { maxMessageChars: 4 * MB } });
    const before = process.memoryUsage().rss;
    expect(await world.call('mcp__h__long', {})).toMatchObject({
      ok: false,
      code: 'execution_failed',
      error: expect.stringMatching(/too long.*may have run/s),
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * MB);
    await expect.poll(() => world.bridge.status()[0]?.state, { timeout: 10_000 }).toBe('ready');
    expect(await world.call('mcp__h__echo', { text: 'b' })).toMatchObject({ ok: true });
  });

  it.runIf(isLongRun())('may nest no deeper than a message may', async () => {
    const world = await start('plain', { limits: { callTimeoutMs: 500 } });
    expect(await world.call('mcp__h__deep', {})).toMatchObject({
      ok: false,
      error: expect.stringContaining('no answer within 0.5 s'),
    });
    expect(await world.call('mcp__h__echo', { text: 'b' })).toMatchObject({ ok: true });
  });

  it.runIf(isLongRun())('may answer with ids that nobody gave out', async () => {
    const world = await start('plain');
    expect(await world.call('mcp__h__wrong-id', {})).toMatchObject({ ok: true, value: 'mine' });
  });

  it('may send invalid parts', async () => {
    const world = await start('plain');
    expect(await world.call('mcp__h__strange', {})).toMatchObject({
      ok: true,
      value: expect.stringContaining('still here'),
      structured: { structuredContent: { list: [1] } },
    });
    expect(await world.call('mcp__h__odd', {})).toMatchObject({
      ok: false,
      error: expect.stringContaining('that the protocol does not know'),
    });
  });

  it('may flood the client: the answer comes, progress is thinned out, and sampling refused', async () => {
    const world = await start('plain', { limits: { messagesPerSecond: 5_000 } });
    const count = isLongRun() ? 3_000 : 300;
    const started = performance.now();
    expect(await world.call('mcp__h__flood', { text: `${count}` })).toMatchObject({
      ok: true,
      value: 'flooded',
    });
    // 5 a second, however long a busy machine takes for them.
    const seconds = (performance.now() - started) / 1_000;
    expect(world.events.length).toBeLessThan(Math.min(5 * seconds + 3, count));
    const asked = await world.call('mcp__h__asked', {});
    expect(asked.ok && asked.value).toContain('"error":{"code":-32601');
  });

  it.runIf(isLongRun())(
    'may write lines without end: what else there is goes on, and it ends with the bridge',
    async () => {
      const world = createWorld({ servers: { h: hostile('plain'), other: hostile('plain') } });
      await world.bridge.start();
      expect(await world.call('mcp__h__spam', {})).toMatchObject({ ok: true });
      expect(await world.call('mcp__other__echo', { text: 'c' })).toMatchObject({ ok: true });
      await world.bridge.close();
      expect(await world.call('mcp__other__echo', {})).toMatchObject({ code: 'not_available' });
    },
  );
});

describe('a list of tools', () => {
  const tools = tries({ check: 10_000, long: 100_000 });
  it(`of ${tools} is cut`, async () => {
    const world = await start(`many-${tools}`);
    const [status] = world.bridge.status();
    expect(status?.tools).toHaveLength(256);
    expect(status?.held).toEqual([{ tool: '', reason: 'there are more than the first 256 tools' }]);
  });

  it.each([
    ['of endless pages', 'cursor', 100],
    ['in a circle', 'circle', 1],
  ])('%s is read once', async (_name, mode, tools) => {
    const world = await start(mode);
    expect(world.bridge.status()[0]?.tools).toHaveLength(tools);
    expect(world.bridge.status()[0]?.held).toContainEqual({
      tool: '',
      reason: expect.stringContaining('there are more'),
    });
  });

  it('with strange names gets names that models take, and can be led back', async () => {
    const world = await start('names');
    const [status] = world.bridge.status();
    expect(status?.tools).toHaveLength(9);
    for (const name of status?.tools ?? []) expect(name).toMatch(/^mcp__h__[a-zA-Z0-9_-]{1,56}$/);
    const origins = (status?.tools ?? []).map((name) => world.bridge.origin(name)?.tool);
    expect(origins).toEqual(
      expect.arrayContaining(['a__b', '__proto__', 'constructor', 'naïve tool', '工具', 'same']),
    );
    expect(status?.tools).not.toContain('mcp__h__read_resource');
    expect(status?.held).toContainEqual({ tool: 'same', reason: 'is listed more than once' });
    expect(world.bridge.origin('mcp__h__nothing')).toBeUndefined();
  });

  it('has what is malformed held back, with the reason, and the rest cleaned', async () => {
    const world = await start('schemas');
    const [status] = world.bridge.status();
    expect(status?.tools).toEqual(['mcp__h__good']);
    const reasons = Object.fromEntries(
      (status?.held ?? []).map(({ tool, reason }) => [tool, reason]),
    );
    expect(reasons).toMatchObject({
      array: 'its inputSchema is not one of an object',
      none: expect.stringContaining('inputSchema'),
      text: expect.stringContaining('inputSchema'),
      deep: 'its inputSchema nests deeper than 32 levels',
      large: expect.stringContaining('longer than'),
      described: expect.stringContaining('description'),
      task: 'runs only as an MCP task',
      '': expect.any(String),
    });
    expect(world.registry.get('mcp__h__good')?.description).toBe('Fine here ‹|im_start|>');
  });

  it.runIf(isLongRun())('of resources without end is cut, and so is what is read', async () => {
    const world = await start('lists');
    const list = await world.call('mcp__h__list_resources', {});
    expect(list).toMatchObject({ ok: true, structured: { count: 1_000, cut: true } });
    expect(await world.call('mcp__h__list_prompts', {})).toMatchObject({
      ok: true,
      value: 'p() – x',
    });
    expect(await world.call('mcp__h__read_resource', { uri: 'r://0/0' })).toMatchObject({
      ok: true,
      value: expect.stringMatching(/left out.*text/s),
    });
  });
});
