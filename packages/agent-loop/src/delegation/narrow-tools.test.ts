import { afterEach, describe, expect, it } from 'vitest';
import { DelegatingWorld } from './fixtures/delegating-world.js';
import { narrowTools } from './narrow-tools.js';

let world: DelegatingWorld;
afterEach(() => world.close());

const calls = ['echo', 'mcp__notes__add', 'pay', 'echo'].map((name, index) => ({
  toolCallId: `c${index}`,
  name,
  args: { text: name },
}));
const options = {
  sessionId: 's',
  currentTurn: 1,
  messageCount: 1,
  abortSignal: new AbortController().signal,
  resultBudgetChars: 1_000,
  protections: 'none' as const,
  host: {},
};

describe('narrowTools', () => {
  it.each<[names: string[], inner: string[] | undefined, ran: string[]]>([
    [['echo'], undefined, ['echo', 'echo']],
    [['echo'], ['echo', 'pay'], ['echo', 'echo']],
    [['echo'], ['pay'], []],
    [[], undefined, []],
    [['mcp__notes__add'], undefined, ['mcp__notes__add']],
  ])('to %j, asked for %j, runs %j', async (names, inner, ran) => {
    world = new DelegatingWorld();
    const echo = world.registry.get('echo') ?? expect.fail('no echo');
    // An allow list does not apply to the tools of MCP servers.
    world.registry.register({ ...echo, name: 'mcp__notes__add' });
    const tools = narrowTools(world.tools, names, 's');
    const results = await tools.execute(calls, { ...options, ...(inner && { tools: inner }) });
    expect(results.map(({ toolCallId, name }) => [toolCallId, name])).toEqual(
      calls.map(({ toolCallId, name }) => [toolCallId, name]),
    );
    expect(results.filter(({ result }) => result.ok).map(({ name }) => name)).toEqual(ran);
    for (const { result } of results) {
      if (!result.ok) expect(result.code).toBe('not_available');
    }
    expect((await tools.definitions()).map(({ name }) => name).sort()).toEqual([...names].sort());
    expect(tools.tool('pay')).toBeUndefined();
  });

  it('never widens when it is narrowed again', async () => {
    world = new DelegatingWorld();
    const tools = narrowTools(
      narrowTools(world.tools, ['echo'], 's'),
      ['echo', 'pay', 'wait'],
      't',
    );
    expect((await tools.definitions()).map(({ name }) => name)).toEqual(['echo']);
    const [, , pay] = await tools.execute(calls, options);
    expect(pay?.result).toMatchObject({ ok: false, code: 'not_available' });
  });
});
