import { mcpServerOf } from '@ethosagent/policy';
import type { FailureCause, ToolFilterOpts } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { batchContext, makeTool, ok, runOne, untyped } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

const notAvailable = (error: string, cause: FailureCause = 'TOOL_UNAVAILABLE') => ({
  ok: false,
  code: 'not_available',
  error,
  cause,
});

async function outcome(
  registry: DefaultToolRegistry,
  name: string,
  allowedTools?: string[],
  filterOpts?: ToolFilterOpts,
) {
  const calls = [{ toolCallId: 'c', name, args: {} }];
  const results = await registry.executeParallel(calls, batchContext(), allowedTools, filterOpts);
  return results[0]?.result;
}

describe('mcpServerOf', () => {
  it.each([
    ['mcp__github__search', 'github'],
    ['mcp__github__search__deep', 'github'],
    ['mcp__constructor__x', 'constructor'],
    ['mcp____x', undefined],
    ['mcp__github__', undefined],
    ['mcp__github', undefined],
    ['mcp__', undefined],
    ['MCP__a__b', undefined],
    ['x_mcp__a__b', undefined],
    ['__proto__', undefined],
  ])('%s is of server %s', (name, server) => {
    expect(mcpServerOf(name)).toBe(server);
  });
});

describe('DefaultToolRegistry gates', () => {
  const registry = new DefaultToolRegistry();
  registry.registerAll([
    makeTool('plain'),
    makeTool('always', undefined, { alwaysInclude: true }),
    makeTool('mcp__a__b'),
    makeTool('mcp__constructor__x'),
    makeTool('mcp____x'),
    makeTool('__proto__'),
    makeTool('constructor'),
    makeTool('closed', undefined, { isAvailable: () => false }),
    makeTool('closed_by_throw', undefined, {
      isAvailable: () => {
        throw new Error('no key');
      },
    }),
    makeTool('closed_by_nonsense', undefined, {
      isAvailable: untyped(() => 'yes'),
    }),
    makeTool('closed_by_rejection', undefined, {
      isAvailable: untyped(async () => Promise.reject(new Error('late'))),
    }),
    makeTool('needs', undefined, { capabilities: { secrets: ['a'] } }),
  ]);
  registry.register(makeTool('plugged'), { pluginId: 'p' });
  registry.register(makeTool('plugged_always', undefined, { alwaysInclude: true }), {
    pluginId: 'p',
  });

  const fine = ok('done');
  const noSuch = (name: string) =>
    notAvailable(
      expect.stringMatching(
        `^there is no tool "${name}"(; there are \\w+(, \\w+)*(, … \\(\\d+ in all\\))?)$`,
      ),
      'TOOL_NOT_FOUND',
    );
  const notListed = (name: string) =>
    notAvailable(
      `${name} is not among the tools of this personality; use another tool, or tell the user that the personality's toolset lacks it`,
      'TOOL_NOT_ALLOWED',
    );
  const noServer = (name: string, server: string) =>
    notAvailable(
      `${name}: the MCP server ${server} is not allowed for this personality; use another tool, or tell the user that the personality's mcp_servers lacks it`,
      'TOOL_NOT_ALLOWED',
    );
  const noMcpTool = (name: string) =>
    notAvailable(
      `${name} is not among the tools of MCP servers that are allowed; use another tool`,
      'TOOL_NOT_ALLOWED',
    );
  const excluded = (name: string) =>
    notAvailable(`${name} is excluded from this batch; use another tool`, 'TOOL_NOT_ALLOWED');
  const noPlugin = (name: string) =>
    notAvailable(
      `${name}: the plugin p is not allowed for this personality; use another tool, or tell the user that the personality's plugins lacks it`,
      'TOOL_NOT_ALLOWED',
    );

  it.each<[string, string[] | undefined, ToolFilterOpts]>([
    ['mcp__a__b', undefined, { excludeTools: ['mcp__a__b'] }],
    ['mcp__a__b', undefined, { allowedMcpTools: [] }],
    ['mcp__a__b', undefined, { allowedMcpServers: [] }],
    ['plugged', undefined, { allowedPlugins: [] }],
    ['plain', [], {}],
  ])('tells of %s again when the batch before it had %j and %j', (tool, allowed, filters) => {
    const names = (...asked: Parameters<typeof registry.toDefinitions>) =>
      registry.toDefinitions(...asked).map(({ name }) => name);
    expect(names()).toContain(tool);
    expect(names(allowed, filters)).not.toContain(tool);
    expect(names()).toContain(tool);
  });

  it.each<[string, string[] | undefined, Parameters<typeof outcome>[3], unknown]>([
    ['missing', undefined, undefined, noSuch('missing')],
    ['toString', undefined, undefined, noSuch('toString')],
    [
      'Plain',
      undefined,
      undefined,
      notAvailable('there is no tool "Plain"; did you mean "plain"?', 'TOOL_NOT_FOUND'),
    ],
    ['Plain', ['alwys'], undefined, noSuch('Plain')],
    ['plain', undefined, undefined, fine],
    ['plain', [], undefined, notListed('plain')],
    ['plain', ['other'], undefined, notListed('plain')],
    ['plain', ['plain'], undefined, fine],
    ['PLAIN', ['PLAIN'], undefined, noSuch('PLAIN')],
    ['always', [], undefined, fine],
    ['__proto__', [], undefined, notListed('__proto__')],
    ['__proto__', ['__proto__'], undefined, fine],
    ['constructor', [], undefined, notListed('constructor')],
    ['mcp__a__b', [], undefined, fine],
    ['mcp__a__b', ['plain'], { allowedMcpServers: ['a'] }, fine],
    ['mcp__a__b', ['mcp__a__b'], { allowedMcpServers: [] }, noServer('mcp__a__b', 'a')],
    ['mcp__a__b', undefined, { allowedMcpServers: ['A'] }, noServer('mcp__a__b', 'a')],
    [
      'mcp__constructor__x',
      undefined,
      { allowedMcpServers: [] },
      noServer('mcp__constructor__x', 'constructor'),
    ],
    ['mcp__constructor__x', undefined, { allowedMcpServers: ['constructor'] }, fine],
    ['mcp____x', [], { allowedMcpServers: [''] }, notListed('mcp____x')],
    ['mcp____x', ['mcp____x'], { allowedMcpServers: [] }, fine],
    ['plugged', undefined, undefined, fine],
    ['plugged', undefined, { allowedPlugins: [] }, noPlugin('plugged')],
    ['plugged', undefined, { allowedPlugins: ['q'] }, noPlugin('plugged')],
    ['plugged', undefined, { allowedPlugins: ['p'] }, fine],
    ['plugged', [], { allowedPlugins: ['p'] }, notListed('plugged')],
    ['plugged_always', [], { allowedPlugins: [] }, noPlugin('plugged_always')],
    ['plain', undefined, { allowedPlugins: [] }, fine],
    ['mcp__a__b', undefined, { allowedMcpTools: ['mcp__a__b'] }, fine],
    [
      'mcp__a__b',
      ['mcp__a__b'],
      { allowedMcpTools: ['b', 'a', 'mcp__a__B'] },
      noMcpTool('mcp__a__b'),
    ],
    [
      'mcp__a__b',
      undefined,
      { allowedMcpServers: ['a'], allowedMcpTools: [] },
      noMcpTool('mcp__a__b'),
    ],
    [
      'mcp__a__b',
      undefined,
      { allowedMcpServers: [], allowedMcpTools: ['mcp__a__b'] },
      noServer('mcp__a__b', 'a'),
    ],
    ['plain', undefined, { allowedMcpTools: [] }, fine],
    ['plain', ['plain'], { excludeTools: ['plain'] }, excluded('plain')],
    ['always', undefined, { excludeTools: ['always'] }, excluded('always')],
    [
      'mcp__a__b',
      undefined,
      { allowedMcpTools: ['mcp__a__b'], excludeTools: ['mcp__a__b'] },
      excluded('mcp__a__b'),
    ],
    [
      'plugged',
      undefined,
      { allowedPlugins: ['p'], excludeTools: ['plugged'] },
      excluded('plugged'),
    ],
    ['plain', undefined, { excludeTools: ['PLAIN', 'other'] }, fine],
    [
      'closed',
      undefined,
      undefined,
      notAvailable(
        'closed is not available: it says that something it needs (a key, a binary) is missing; go on without it, and tell the user',
      ),
    ],
    ['closed', [], undefined, notListed('closed')],
    [
      'closed_by_throw',
      undefined,
      undefined,
      notAvailable(
        'closed_by_throw is not available: its own check failed (no key); go on without it, and tell the user',
      ),
    ],
    [
      'closed_by_nonsense',
      undefined,
      undefined,
      notAvailable(
        'closed_by_nonsense is not available: it says that something it needs (a key, a binary) is missing; go on without it, and tell the user',
      ),
    ],
    [
      'closed_by_rejection',
      undefined,
      undefined,
      notAvailable(
        'closed_by_rejection is not available: it says that something it needs (a key, a binary) is missing; go on without it, and tell the user',
      ),
    ],
    [
      'needs',
      undefined,
      undefined,
      notAvailable(
        'needs did not run: it declares capabilities, and capability backends are not configured; go on without it, and tell the user',
      ),
    ],
  ])('%s with allowedTools %j and filters %j', async (name, allowedTools, filterOpts, expected) => {
    expect(await outcome(registry, name, allowedTools, filterOpts)).toEqual(expected);
  });

  it('a closed tool closes no other of its batch', async () => {
    const names = ['plain', 'closed_by_throw', 'missing', 'always'];
    const results = await registry.executeParallel(
      names.map((name) => ({ toolCallId: name, name, args: {} })),
      batchContext(),
    );
    expect(results.map(({ result }) => result.ok)).toEqual([true, false, false, true]);
  });

  it('a list that is written anew is told from the one before it', () => {
    const names = (list: string[]) => registry.toDefinitions(list).map(({ name }) => name);
    const first = names(['plain']);
    expect(names(['plain'])).toEqual(first);
    expect(names([])).toEqual(first.filter((name) => name !== 'plain'));
    expect(names(['plian'])).not.toContain('plain');
  });

  it('gives each caller a list of definitions of its own', () => {
    const emptied = registry.toDefinitions(['plain']);
    emptied.length = 0;
    expect(registry.toDefinitions(['plain']).map(({ name }) => name)).toContain('plain');
  });

  it('a list that was changed in place counts with the next batch', async () => {
    const allowed = ['plain'];
    expect(await outcome(registry, 'plain', allowed)).toEqual(fine);
    allowed[0] = 'other';
    expect(await outcome(registry, 'plain', allowed)).toEqual(notListed('plain'));
  });

  it('toDefinitions passes the same gates, in order of registration', () => {
    expect(registry.toDefinitions(['plain', 'closed'], { allowedMcpServers: ['a'] })).toEqual(
      ['plain', 'always', 'mcp__a__b', 'plugged_always'].map((name) => ({
        name,
        description: `Test tool ${name}.`,
        parameters: { type: 'object' },
      })),
    );
  });

  it('getAvailable leaves out what is closed', () => {
    const names = registry.getAvailable().map(({ name }) => name);
    expect(names).toContain('plain');
    expect(names).not.toContain('closed');
    expect(names).not.toContain('closed_by_throw');
  });

  it('getForToolset gives the tools of a group', () => {
    const grouped = new DefaultToolRegistry();
    grouped.registerAll([makeTool('a', undefined, { toolset: 'web' }), makeTool('b')]);
    expect(grouped.getForToolset('web').map(({ name }) => name)).toEqual(['a']);
  });
});

describe('DefaultToolRegistry ownership', () => {
  const taken = expect.objectContaining({ code: 'TOOL_NAME_TAKEN' });

  it.each<[string, string | undefined, string | undefined, boolean]>([
    ['the host replaces its own tool', undefined, undefined, true],
    ['a plugin replaces its own tool', 'p', 'p', true],
    ['a plugin takes a name of the host', undefined, 'p', false],
    ['a plugin takes a name of another plugin', 'p', 'q', false],
    ['the host takes a name of a plugin', 'p', undefined, false],
    ['a plugin with an empty id takes a name of the host', undefined, '', false],
  ])('%s', async (_name, first, second, allowed) => {
    const registry = new DefaultToolRegistry();
    const owner = (pluginId: string | undefined) => (pluginId === undefined ? {} : { pluginId });
    registry.register(
      makeTool('terminal', () => ok('first')),
      owner(first),
    );
    const replace = () =>
      registry.register(
        makeTool('terminal', () => ok('second')),
        owner(second),
      );
    if (allowed) replace();
    else expect(replace).toThrow(taken);
    expect(await runOne(registry, 'terminal')).toEqual(ok(allowed ? 'second' : 'first'));
  });

  it('unregisterPlugin removes the tools of that plugin and no others', () => {
    const registry = new DefaultToolRegistry();
    registry.register(makeTool('host'));
    registry.registerAll([makeTool('p1'), makeTool('p2')], { pluginId: 'p' });
    registry.register(makeTool('q1'), { pluginId: 'q' });
    expect(registry.unregisterPlugin('p')).toBe(2);
    expect(registry.unregisterPlugin('p')).toBe(0);
    expect(registry.list().map(({ name }) => name)).toEqual(['host', 'q1']);
    registry.register(makeTool('p1'), { pluginId: 'q' });
  });

  it('unregister says whether the tool was there', () => {
    const registry = new DefaultToolRegistry();
    registry.register(makeTool('a'));
    expect([registry.unregister('a'), registry.unregister('a')]).toEqual([true, false]);
    expect(registry.get('a')).toBeUndefined();
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['an empty name', { ...makeTool('x'), name: '' }],
    ['a name that is a number', { ...makeTool('x'), name: 5 }],
    ['no execute', { ...makeTool('x'), execute: undefined }],
    ['no capabilities', { ...makeTool('x'), capabilities: undefined }],
    ['inputSchema for a schema', { ...makeTool('x'), schema: undefined, inputSchema: {} }],
    ['needsApproval', { ...makeTool('x'), needsApproval: true }],
    [
      'hosts that are a string',
      { ...makeTool('x'), capabilities: { network: { allowedHosts: '*' } } },
    ],
    ['a network without hosts', { ...makeTool('x'), capabilities: { network: {} } }],
    ['secrets that are numbers', { ...makeTool('x'), capabilities: { secrets: [1] } }],
    ['a secret without hosts', { ...makeTool('x'), capabilities: { secrets: [{ ref: 'a' }] } }],
    [
      'a secret with text for hosts',
      { ...makeTool('x'), capabilities: { secrets: [{ ref: 'a', hosts: 'b' }] } },
    ],
    [
      'a secret with a misspelt key',
      { ...makeTool('x'), capabilities: { secrets: [{ ref: 'a', hosts: ['b'], host: 'c' }] } },
    ],
    ['a process without binaries', { ...makeTool('x'), capabilities: { process: {} } }],
    ['settings without `parse`', { ...makeTool('x'), settings: {} }],
    ['an input that is a number', { ...makeTool('x'), input: 5 }],
    ['an availability that is no function', { ...makeTool('x'), isAvailable: true }],
    ['a read reach of "all"', { ...makeTool('x'), capabilities: { fs_reach: { read: 'all' } } }],
  ])('register refuses %s with TOOL_INVALID', (_name, tool) => {
    const registry = new DefaultToolRegistry();
    const register = () => Reflect.apply(registry.register, registry, [untyped(tool)]);
    expect(register).toThrow(expect.objectContaining({ code: 'TOOL_INVALID' }));
    expect(registry.list()).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['a property', { ...makeTool('x'), needsApproval: true }, 'write `requiresApproval`'],
    [
      'the schema',
      { ...makeTool('x'), schema: undefined, inputSchema: {} },
      'or `schema` for JSON',
    ],
    [
      'a capability',
      { ...makeTool('x'), capabilities: { netwrok: {} } },
      'did you mean "network"?',
    ],
    [
      'a key of a capability',
      { ...makeTool('x'), capabilities: { network: { allowedHost: [] } } },
      'did you mean "allowedHosts"?',
    ],
    [
      'an effect',
      { ...makeTool('x'), effects: ['sned'] },
      'x: effects: "sned" is none; did you mean "send"? there are write, send, spawn',
    ],
    ['a text of effects', { ...makeTool('x'), effects: 'send' }, 'x: effects is a list of write, '],
    [
      'what is true',
      { ...makeTool('x'), outputIsUntrusted: 'yes' },
      'x: outputIsUntrusted is true or false',
    ],
    [
      'when it is asked about',
      { ...makeTool('x'), requiresApproval: 'always' },
      'x: requiresApproval is true, false, or a function',
    ],
    [
      'a reach',
      { ...makeTool('x'), capabilities: { fs_reach: 'from-personality' } },
      'x: capabilities.fs_reach is an object with read, write',
    ],
    [
      'a question',
      { ...makeTool('x'), requiresAproval: true },
      'x: `requiresAproval` is no property of a tool; write `requiresApproval`',
    ],
    ['a limit', { ...makeTool('x'), timoutMs: 5 }, '`timoutMs` is no property of a tool; write'],
    ['a list of tools', [makeTool('x')], 'a list is no tool; spread it'],
    ['a promise of a tool', Promise.resolve(makeTool('x')), 'a promise is no tool; await it'],
    [
      'a promise of capabilities',
      { ...makeTool('x'), capabilities: Promise.resolve({}) },
      'x: capabilities are a promise; await it',
    ],
  ])('register says what was meant by %s that is misnamed', (_name, tool, message) => {
    const registry = new DefaultToolRegistry();
    expect(() => Reflect.apply(registry.register, registry, [untyped(tool)])).toThrow(message);
  });
});
