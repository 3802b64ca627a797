import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ToolRuntime } from './runtime-api.js';
import { createToolRuntime } from './tool-runtime.js';

let home: string;
let file: string;
const open: ToolRuntime[] = [];

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'runtime-settings-')));
  file = join(home, 'personalities', 'coder', 'config.yaml');
  mkdirSync(dirname(file), { recursive: true });
});
afterEach(async () => {
  for (const runtime of open.splice(0)) await runtime.close();
  rmSync(home, { recursive: true, force: true });
});

const search = defineTool({
  name: 'search',
  description: 'Says what it was set to.',
  input: z.object({}),
  settings: z.strictObject({
    provider: z.enum(['brave', 'exa']).default('brave'),
    limits: z.strictObject({ count: z.int().min(1).max(20).default(10) }).default({ count: 10 }),
  }),
  capabilities: {},
  async execute(_args, { settings }) {
    return ok(`${settings.provider} ${settings.limits.count}`);
  },
});

const plain = defineTool({
  name: 'plain',
  description: 'Has no settings.',
  schema: { type: 'object' },
  capabilities: {},
  execute: async () => ok('plain'),
});

const sleeper = defineTool({
  name: 'sleeper',
  description: 'Leaves a process running, and lists those that are.',
  input: z.object({ start: z.boolean() }),
  capabilities: { process: { allowedBinaries: ['sleep'], background: true } },
  async execute({ start }, { scopedProcess: { background } }) {
    if (start) await background?.start('sleep', ['30']);
    const running = (await background?.list())?.filter(({ state }) => state === 'running');
    return ok(`${running?.length} running`);
  },
});

async function runtimeWith(yaml: string): Promise<ToolRuntime> {
  writeFileSync(file, `name: Coder\n${yaml}`);
  const runtime = await createToolRuntime({
    home,
    personality: 'coder',
    cwd: home,
    tools: [search, plain, sleeper],
  });
  open.push(runtime);
  return runtime;
}

async function run(runtime: ToolRuntime, name: string, args = {}, sessionId?: string) {
  const [answer] = await runtime.execute(
    [{ toolCallId: '1', name, args }],
    sessionId === undefined ? {} : { sessionId },
  );
  if (answer === undefined) throw new Error('no answer');
  return answer.result.ok ? answer.result.value : answer.result.error;
}

describe('tool_settings of a personality', () => {
  it.each([
    ['nothing', '', 'brave 10'],
    ['an empty mapping', 'tool_settings: {}\n', 'brave 10'],
    ['settings of another tool', 'tool_settings:\n  other:\n    x: 1\n', 'brave 10'],
    ['one key', 'tool_settings:\n  search:\n    provider: exa\n', 'exa 10'],
    ['a nested key', 'tool_settings:\n  search:\n    limits: { count: 3 }\n', 'brave 3'],
  ])('reach the tool: %s', async (_name, yaml, expected) => {
    expect(await run(await runtimeWith(yaml), 'search')).toBe(expected);
  });

  it.each([
    [
      'an unknown key',
      'tool_settings:\n  search:\n    provder: exa\n',
      ':4:5: tool_settings.search',
    ],
    [
      'an invalid value',
      'tool_settings:\n  search:\n    provider: bing\n',
      ':4:15: tool_settings.search.provider',
    ],
    [
      'a number that is too large, deep inside',
      'tool_settings:\n  search:\n    limits:\n      count: 99\n',
      ':5:14: tool_settings.search.limits.count',
    ],
  ])('hold the tool back: %s', async (_name, yaml, place) => {
    const runtime = await runtimeWith(yaml);
    expect(await run(runtime, 'search')).toContain(`${file}${place}`);
    expect(await runtime.problems()).toMatchObject([{ tool: 'search', heldBack: true }]);
    const offered = (await runtime.definitions()).map(({ name }) => name);
    expect(offered).toEqual(['plain', 'sleeper']);
    expect(await run(runtime, 'plain')).toBe('plain');
  });

  it.each([
    [
      'of a tool that has none',
      'tool_settings:\n  plain:\n    x: 1\n',
      'plain has no settings of its own',
    ],
    [
      'of no tool',
      'tool_settings:\n  serach:\n    x: 1\n',
      'serach is no registered tool; did you mean "search"?',
    ],
    ['of a name from Object', 'tool_settings:\n  toString:\n    x: 1\n', 'no registered tool'],
  ])('are a problem that holds nothing back: %s', async (_name, yaml, message) => {
    const runtime = await runtimeWith(yaml);
    const [problem, ...others] = await runtime.problems();
    expect(problem).toMatchObject({ heldBack: false });
    expect(problem?.message).toContain(message);
    expect(others).toEqual([]);
    expect(await run(runtime, 'search')).toBe('brave 10');
  });

  it.each([
    ['that are text', 'tool_settings: x\n', ':2:16: tool_settings: expected a mapping'],
    ['that are a list', 'tool_settings:\n  search: [1]\n', ':3:11: tool_settings.search: expected'],
  ])('make the file wrong: %s', async (_name, yaml, message) => {
    await expect(runtimeWith(yaml)).rejects.toThrow(message);
  });

  it('follow the file', async () => {
    const runtime = await runtimeWith('tool_settings:\n  search:\n    provider: exa\n');
    expect(await run(runtime, 'search')).toBe('exa 10');
    writeFileSync(file, 'name: Coder\ntool_settings:\n  search:\n    limits: { count: 7 }\n');
    expect(await run(runtime, 'search')).toBe('brave 7');
  });
});

const family = ['one', 'two'].map((name) =>
  defineTool({
    name,
    description: 'Shares its settings.',
    schema: { type: 'object' },
    settings: z.strictObject({ cap: z.int().default(1) }),
    settingsKey: 'family',
    capabilities: { fs_reach: { read: 'from-personality' } },
    execute: async (_args, ctx) => ok(JSON.stringify(ctx.settings)),
  }),
);

describe('settings that tools share', () => {
  const start = async (yaml: string) => {
    writeFileSync(file, `name: Coder\nfs_reach:\n  read: ["\${CWD}"]\n${yaml}`);
    const options = { home, personality: 'coder', cwd: home, tools: family };
    const runtime = await createToolRuntime(options);
    open.push(runtime);
    return runtime;
  };

  it('reach all of them, and hold all of them back when they are wrong', async () => {
    const right = await start('tool_settings:\n  family:\n    cap: 3\n');
    expect([await run(right, 'one'), await run(right, 'two')]).toEqual(['{"cap":3}', '{"cap":3}']);
    const wrong = await start('tool_settings:\n  family:\n    cap: x\n');
    const held = (await wrong.problems()).filter(({ heldBack }) => heldBack);
    expect(held.map(({ tool }) => tool)).toEqual(['one', 'two']);
  });

  it('are not under the name of one of them, which is told', async () => {
    const runtime = await start('tool_settings:\n  one:\n    cap: 3\n');
    const [problem] = await runtime.problems();
    expect(problem?.message).toContain('one has no settings of its own; set family');
  });
});

describe('ToolRuntime.problems', () => {
  it.each([
    ['no list', '', ['open']],
    ['an empty list', 'safety:\n  network:\n    allow: []\n', ['open', 'closed']],
    ['a host', 'safety:\n  network:\n    allow: [a.example]\n', []],
  ])(
    'names tools that may request what the personality allows, under %s',
    async (_, yaml, names) => {
      writeFileSync(file, `name: Coder\n${yaml}`);
      const tools = Object.entries({ open: ['*'], closed: ['a.example'] }).map(([name, hosts]) =>
        defineTool({
          name,
          description: 'Requests something.',
          schema: { type: 'object' },
          capabilities: { network: { allowedHosts: hosts } },
          execute: async () => ok(''),
        }),
      );
      const runtime = await createToolRuntime({ home, personality: 'coder', cwd: home, tools });
      open.push(runtime);
      expect((await runtime.problems()).map(({ tool }) => tool)).toEqual(names);
    },
  );

  it('names tools that work on the files of a personality which has none', async () => {
    writeFileSync(file, 'name: Coder\n');
    const options = { home, personality: 'coder', cwd: home, tools: family };
    const runtime = await createToolRuntime(options);
    open.push(runtime);
    expect(await runtime.problems()).toMatchObject([
      { key: 'fs_reach', tool: 'one', heldBack: false },
      { key: 'fs_reach', tool: 'two', heldBack: false },
    ]);
  });
});

describe('ToolRuntime.endSession', () => {
  it('ends what one session left running, and no other', async () => {
    const runtime = await runtimeWith('');
    await run(runtime, 'sleeper', { start: true });
    expect(await run(runtime, 'sleeper', { start: true })).toBe('2 running');
    expect(await run(runtime, 'sleeper', { start: true }, 'other')).toBe('1 running');
    await runtime.endSession();
    expect(await run(runtime, 'sleeper', { start: false })).toBe('0 running');
    expect(await run(runtime, 'sleeper', { start: false }, 'other')).toBe('1 running');
  });
});
