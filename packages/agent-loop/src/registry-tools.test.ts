import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { mcpToolName } from '@ethosagent/policy';
import { FsStorage } from '@ethosagent/storage-fs';
import type { ToolContext } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AgentBatchOptions } from './api.js';
import { World } from './fixtures/world.js';
import { registryTools } from './registry-tools.js';

let world: World;
let contexts: ToolContext[];
beforeEach(() => {
  contexts = [];
  const seen = defineTool({
    name: 'seen',
    description: 'Sees.',
    toolset: 'eyes',
    input: z.object({}),
    capabilities: { fs_reach: { read: 'from-personality' } },
    async execute(_args, ctx) {
      contexts.push(ctx);
      return ok('seen');
    },
  });
  world = new World({ tools: [seen] });
});
afterEach(() => world.close());

const unseen = (name: string) =>
  defineTool({
    name,
    description: 'Sees nothing.',
    input: z.object({}),
    capabilities: {},
    execute: async () => ok(''),
  });

function batch(rest: Partial<AgentBatchOptions> = {}): AgentBatchOptions {
  return {
    sessionId: 's',
    currentTurn: 3,
    messageCount: 7,
    abortSignal: new AbortController().signal,
    resultBudgetChars: 100,
    protections: 'none',
    host: {},
    ...rest,
  };
}

const CALLS = [
  { toolCallId: '1', name: 'seen', args: {} },
  { toolCallId: '2', name: 'echo', args: { text: 'a' } },
];

describe('registryTools', () => {
  it('has the tools of a server by its name, also where they carry another form of it', async () => {
    const name = mcpToolName('My Server', 'seen');
    world.registry.register(unseen(name));
    const { personality, registry, folder: workingDir } = world;
    const tools = (mcp_servers: string[]) =>
      registryTools(registry, { ...personality, mcp_servers }, { workingDir }).definitions();
    expect(await tools(['My Server'])).toContainEqual(expect.objectContaining({ name }));
    expect(await tools(['my server'])).not.toContainEqual(expect.objectContaining({ name }));
  });

  it('gives a call what the turn and the host say', async () => {
    const tools = registryTools(world.registry, world.personality, {
      workingDir: world.folder,
      storage: new FsStorage(),
    });
    await tools.execute(CALLS, batch({ teamId: 'team', memoryScopeId: 'm' }));
    await tools.execute(CALLS, batch());
    await tools.execute(CALLS, batch({ sessionId: 't' }));
    expect(contexts[0]).toMatchObject({
      sessionId: 's',
      sessionKey: 's',
      platform: 'api',
      workingDir: world.folder,
      personalityId: 'tester',
      teamId: 'team',
      memoryScopeId: 'm',
      currentTurn: 3,
      messageCount: 7,
    });
    expect(contexts[0]?.storage).toBeDefined();
    expect(contexts[0]?.readMtimes).toBeInstanceOf(Map);
    expect(contexts[1]?.readMtimes).toBe(contexts[0]?.readMtimes);
    expect(contexts[2]?.readMtimes).not.toBe(contexts[0]?.readMtimes);
  });

  it.each<[string, string[] | undefined, string[] | undefined, string[]]>([
    ['every tool', undefined, undefined, ['1', '2']],
    ['the tools of the personality', ['echo'], undefined, ['2']],
    ['the tools of a group', ['eyes'], undefined, ['1']],
    ['those of the batch', undefined, ['echo'], ['2']],
    ['those of both', ['eyes'], ['echo'], []],
    ['none', [], undefined, []],
  ])('runs %s', async (_name, toolset, named, expected) => {
    const personality = { ...world.personality, ...(toolset !== undefined && { toolset }) };
    const tools = registryTools(world.registry, personality, { workingDir: world.folder });
    const results = await tools.execute(CALLS, batch(named === undefined ? {} : { tools: named }));
    expect(results.filter(({ result }) => result.ok).map(({ toolCallId }) => toolCallId)).toEqual(
      expected,
    );
  });

  it.each<[string, unknown]>([
    ['the options are missing', undefined],
    ['there is no option "toolName"; did you mean "toolNames"?', { toolName: [] }],
    ['toolNames must be a list of names of tools', { toolNames: 'echo' }],
    ['toolNames must be a list of names of tools', { toolNames: null }],
    ['workingDir must be an absolute path', { workingDir: null }],
    ['workingDir must be an absolute path', { workingDir: 'here' }],
    ['give a registry, a personality, and options with workingDir', { workingDir: undefined }],
  ])('refuses odd options: %s', (told, given) => {
    const { registry, personality, folder: workingDir } = world;
    const options = given === undefined ? given : { workingDir, ...Object(given) };
    expect(() => Reflect.apply(registryTools, undefined, [registry, personality, options])).toThrow(
      `CONFIG_INVALID: registryTools: ${told}`,
    );
  });

  it('knows of one personality', async () => {
    const tools = registryTools(world.registry, world.personality, { workingDir: world.folder });
    expect(await tools.personality()).toBe(world.personality);
    expect(await tools.personality('tester')).toBe(world.personality);
    for (const attempt of [
      () => tools.personality('other'),
      () => tools.definitions('other'),
      async () => tools.execute(CALLS, batch({ personality: 'other' })),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    }
  });
});
