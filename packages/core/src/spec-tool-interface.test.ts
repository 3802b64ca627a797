import {
  TOOL_ERROR_CODES,
  type ToolBatchContext,
  type ToolProgressEvent,
  type ToolReducerContext,
  type ToolResult,
} from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { batchContext, makeTool, ok, runOne, untyped } from './testing/batch.js';
import { DefaultToolResultReducerRegistry } from './tool-reducer-registry.js';
import { DefaultToolRegistry } from './tool-registry.js';

async function resultOf(
  returned: unknown,
  ctx: Partial<ToolBatchContext> = {},
): Promise<ToolResult> {
  const registry = new DefaultToolRegistry();
  registry.register(makeTool('t', () => returned));
  return runOne(registry, 't', {}, ctx);
}

describe('Tool interface reference: ToolResult, success variant', () => {
  it.each<[string, ToolResult]>([
    ['ok and value', { ok: true, value: 'v' }],
    ['structured', { ok: true, value: 'v', structured: { image: 'aGk=', rows: [[1, null]] } }],
    ['cost_usd', { ok: true, value: 'v', cost_usd: 0.002 }],
  ])('%s', async (_name, result) => {
    expect(await resultOf(result)).toEqual(result);
  });

  it('value is post-trimmed against the budget, with the marker', async () => {
    expect(await resultOf(ok('123456'), { resultBudgetChars: 5 })).toEqual(
      ok('12345\n[truncated -- 6 chars total]'),
    );
  });

  it('a success without a value is none', async () => {
    expect(await resultOf({ ok: true })).toMatchObject({ ok: false, code: 'execution_failed' });
  });
});

describe('Tool interface reference: ToolResult, error variant', () => {
  it('error goes back verbatim', async () => {
    const error = 'A message, "verbatim" with <tags> & \u001b[1m';
    expect(await resultOf({ ok: false, error, code: 'input_invalid' })).toEqual({
      ok: false,
      error,
      code: 'input_invalid',
    });
  });

  it('a tool that throws becomes execution_failed with its message', async () => {
    const registry = new DefaultToolRegistry();
    registry.register(makeTool('t', () => Promise.reject(new Error('the disk is on fire'))));
    expect(await runOne(registry, 't')).toEqual({
      ok: false,
      code: 'execution_failed',
      error: 'the disk is on fire',
    });
  });
});

describe('Tool interface reference: ToolResult, error codes', () => {
  it.each([
    ['input_invalid', 'The LLM produced args that fail validation.'],
    ['not_available', 'The tool is gated off (missing API key, binary, or personality allowlist).'],
    ['execution_failed', 'Runtime failure inside execute.'],
    [
      'STALE_WRITE',
      "The file's on-disk mtime differs from the value recorded at read time; the write is refused to prevent silent clobber.",
    ],
  ] as const)('%s: %s', async (code, meaning) => {
    expect(TOOL_ERROR_CODES[code]).toBe(meaning);
    expect(await resultOf({ ok: false, error: 'e', code })).toEqual({
      ok: false,
      error: 'e',
      code,
    });
  });

  it('there are no others', () => {
    expect(Object.keys(TOOL_ERROR_CODES)).toHaveLength(4);
  });
});

describe('Tool interface reference: ToolProgressEvent members', () => {
  const base = { type: 'progress', toolName: 't', message: 'm', audience: 'internal' } as const;

  it.each<[string, unknown, ToolProgressEvent | undefined]>([
    ['type, toolName and message', { type: 'progress', toolName: 't', message: 'm' }, base],
    ['type is always progress', { type: 'other', toolName: 't', message: 'm' }, base],
    ['toolName is the tool’s own', { type: 'progress', toolName: 'forged', message: 'm' }, base],
    ['message must be a string', { type: 'progress', toolName: 't', message: 7 }, undefined],
    ['percent 50', { message: 'm', percent: 50 }, { ...base, percent: 50 }],
    ['percent 0', { message: 'm', percent: 0 }, { ...base, percent: 0 }],
    ['percent 150, which counts as 100', { message: 'm', percent: 150 }, { ...base, percent: 100 }],
    ['percent -1, which counts as 0', { message: 'm', percent: -1 }, { ...base, percent: 0 }],
    ['percent NaN, which is left out', { message: 'm', percent: Number.NaN }, base],
    ['audience absent: internal', { message: 'm' }, base],
    ['audience internal', { message: 'm', audience: 'internal' }, base],
    ['audience user', { message: 'm', audience: 'user' }, { ...base, audience: 'user' }],
    [
      'audience dashboard',
      { message: 'm', audience: 'dashboard' },
      { ...base, audience: 'dashboard' },
    ],
    ['audience unknown: internal', { message: 'm', audience: 'everyone' }, base],
  ])('%s', async (_name, emitted, expected) => {
    const events: ToolProgressEvent[] = [];
    const registry = new DefaultToolRegistry();
    registry.register(
      makeTool('t', (_args, ctx) => {
        ctx.emit(untyped(emitted));
        return ok('done');
      }),
    );
    await runOne(registry, 't', {}, { emit: (event) => events.push(event) });
    expect(events).toEqual(expected === undefined ? [] : [expected]);
  });
});

describe('Tool interface reference: Tool members', () => {
  it('name, description and schema are what the model is told', () => {
    const registry = new DefaultToolRegistry();
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    registry.register(makeTool('read_file', undefined, { description: 'Reads.', schema }));
    expect(registry.toDefinitions()).toEqual([
      { name: 'read_file', description: 'Reads.', parameters: schema },
    ]);
  });

  it('toolset groups', () => {
    const registry = new DefaultToolRegistry();
    registry.registerAll([makeTool('a', undefined, { toolset: 'file' }), makeTool('b')]);
    expect(registry.getForToolset('file').map(({ name }) => name)).toEqual(['a']);
  });

  it.each([
    [10, 100, 10],
    [100, 10, 10],
    [undefined, 10, 10],
  ])(
    'maxResultChars %s under a budget of %s: %s',
    async (maxResultChars, resultBudgetChars, cut) => {
      const registry = new DefaultToolRegistry();
      const rest = maxResultChars === undefined ? {} : { maxResultChars };
      registry.register(makeTool('t', () => ok('x'.repeat(200)), rest));
      expect(await runOne(registry, 't', {}, { resultBudgetChars })).toEqual(
        ok(`${'x'.repeat(cut)}\n[truncated -- 200 chars total]`),
      );
    },
  );

  it('isAvailable is asked every time the list is built', () => {
    let available = false;
    const registry = new DefaultToolRegistry();
    registry.register(makeTool('t', undefined, { isAvailable: () => available }));
    expect(registry.toDefinitions()).toEqual([]);
    available = true;
    expect(registry.toDefinitions()).toHaveLength(1);
  });

  it('alwaysInclude passes the toolset filter', () => {
    const registry = new DefaultToolRegistry();
    registry.registerAll([makeTool('a', undefined, { alwaysInclude: true }), makeTool('b')]);
    expect(registry.toDefinitions([]).map(({ name }) => name)).toEqual(['a']);
  });

  it('outputIsUntrusted stays with the tool, for the loop', () => {
    const registry = new DefaultToolRegistry();
    registry.register(makeTool('t', undefined, { outputIsUntrusted: true }));
    expect(registry.get('t')?.outputIsUntrusted).toBe(true);
  });

  it('execute gets the arguments unchecked against schema', async () => {
    const registry = new DefaultToolRegistry();
    const schema = { type: 'object', required: ['path'] };
    registry.register(makeTool('t', (args) => ok(JSON.stringify(args)), { schema }));
    expect(await runOne(registry, 't', { other: 1 })).toEqual(ok('{"other":1}'));
  });
});

describe('Tool interface reference: ToolFilterOpts members', () => {
  const registry = new DefaultToolRegistry();
  registry.registerAll([makeTool('built_in'), makeTool('mcp__a__x'), makeTool('mcp__b__x')]);
  registry.register(makeTool('p_tool'), { pluginId: 'p' });
  registry.register(makeTool('q_tool'), { pluginId: 'q' });

  it.each([
    [undefined, ['built_in', 'mcp__a__x', 'mcp__b__x', 'p_tool', 'q_tool']],
    [{ allowedMcpServers: ['a'] }, ['built_in', 'mcp__a__x', 'p_tool', 'q_tool']],
    [{ allowedMcpServers: [] }, ['built_in', 'p_tool', 'q_tool']],
    [{ allowedPlugins: ['p'] }, ['built_in', 'mcp__a__x', 'mcp__b__x', 'p_tool']],
    [{ allowedPlugins: [] }, ['built_in', 'mcp__a__x', 'mcp__b__x']],
    [{ allowedMcpServers: [], allowedPlugins: [] }, ['built_in']],
  ])('%j leaves %j', async (filterOpts, names) => {
    expect(registry.toDefinitions(undefined, filterOpts).map(({ name }) => name)).toEqual(names);
    const all = registry.list().map(({ name }) => name);
    const results = await registry.executeParallel(
      all.map((name) => ({ toolCallId: name, name, args: {} })),
      batchContext(),
      undefined,
      filterOpts,
    );
    expect(results.filter(({ result }) => result.ok).map(({ name }) => name)).toEqual(names);
  });
});

describe('Tool interface reference: ToolReducerContext and ToolResultReducer members', () => {
  async function reduced(
    toolName: string,
  ): Promise<{ result: ToolResult; seen: ToolReducerContext[] }> {
    const seen: ToolReducerContext[] = [];
    const reducers = new DefaultToolResultReducerRegistry();
    reducers.register({
      toolName,
      reduce: (result, ctx) => {
        seen.push(ctx);
        return result.ok ? { ...result, value: 'reduced' } : result;
      },
    });
    const registry = new DefaultToolRegistry({}, reducers);
    registry.register(makeTool('read_file'));
    return { result: await runOne(registry, 'read_file', { from: 3 }, { currentTurn: 12 }), seen };
  }

  it('args and turnCount are those of the call', async () => {
    expect((await reduced('read_file')).seen).toEqual([{ args: { from: 3 }, turnCount: 12 }]);
  });

  it('reduce transforms the result', async () => {
    expect((await reduced('read_file')).result).toEqual(ok('reduced'));
  });

  it.each([['read_'], ['read_*'], ['.*'], ['READ_FILE']])(
    'toolName %s does not match read_file',
    async (name) => {
      expect(await reduced(name)).toEqual({ result: ok('done'), seen: [] });
    },
  );
});

describe('Tool interface reference: ToolResultReducerRegistry methods', () => {
  const reducer = (toolName: string) => ({ toolName, reduce: (result: ToolResult) => result });

  it('get gives what was registered, and undefined otherwise', () => {
    const registry = new DefaultToolResultReducerRegistry();
    const one = reducer('a');
    registry.register(one);
    expect([registry.get('a'), registry.get('b'), registry.get('__proto__')]).toEqual([
      one,
      undefined,
      undefined,
    ]);
  });

  it('register throws for a name that is taken', () => {
    const registry = new DefaultToolResultReducerRegistry();
    registry.register(reducer('a'));
    expect(() => registry.register(reducer('a'))).toThrow(
      expect.objectContaining({ code: 'REDUCER_NAME_TAKEN' }),
    );
  });

  it('the cleanup function unregisters, twice is safe, and does not remove a successor', () => {
    const registry = new DefaultToolResultReducerRegistry();
    const cleanup = registry.register(reducer('a'));
    cleanup();
    cleanup();
    const successor = reducer('a');
    registry.register(successor);
    cleanup();
    expect(registry.get('a')).toBe(successor);
  });
});

describe('Tool interface reference: Used by', () => {
  it('packages/core/src/tool-registry.ts: executeParallel runs execute and applies reducers', async () => {
    const reducers = new DefaultToolResultReducerRegistry();
    reducers.register({ toolName: 't', reduce: () => ok('reduced') });
    const registry = new DefaultToolRegistry({}, reducers);
    registry.register(makeTool('t'));
    expect(await runOne(registry, 't')).toEqual(ok('reduced'));
  });
});
