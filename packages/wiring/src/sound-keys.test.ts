import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { createTestFolder } from '@ethosagent/test-support';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { ToolRuntimeOptions } from './runtime-api.js';
import { createToolRuntime } from './tool-runtime.js';

const counter = defineTool({
  name: 'todo_count',
  description: 'Counts.',
  input: z.object({}),
  settings: z.strictObject({ limit: z.int().default(1) }),
  capabilities: {},
  execute: async () => ok('1'),
});
const getter = defineTool({
  name: 'getter',
  description: 'Gets.',
  input: z.object({}),
  capabilities: { network: { allowedHosts: ['*'] }, fs_reach: { read: 'from-personality' } },
  execute: async () => ok('done'),
});

function createHome(files: Record<string, string>) {
  const { base, remove } = createTestFolder('sound-keys');
  onTestFinished(remove);
  for (const [id, text] of Object.entries(files)) {
    const file = join(base, 'personalities', id, 'config.yaml');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const start = (personality: string, options: Partial<ToolRuntimeOptions> = {}) =>
    createToolRuntime({ home: base, cwd: base, personality, tools: [counter, getter], ...options });
  /** Each problem without the name of its file. */
  const told = async (trying: Promise<unknown>) => {
    const error: unknown = await trying.then(() => undefined).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'CONFIG_INVALID' });
    const lines = error instanceof Error ? error.message.split('\n') : [];
    return lines.map((line) => line.replace(/^.*config\.yaml:/, ''));
  };
  return { start, told };
}

const unknown = (place: string, name: string, hint = '; register it, or take it out') =>
  `${place}: toolset: ${name} is neither a registered tool nor a group of tools${hint}`;
const COUNT = '; did you mean "todo_count"?';

it.each<[what: string, yaml: string, told: string[]]>([
  [
    'a mistake of shape after it',
    'name: C\ntoolset: [todocount, x]\nsaftey: {}\n',
    [
      unknown('2:11', 'todocount', COUNT),
      unknown('2:22', 'x'),
      '3:1: unknown key "saftey"; did you mean "safety"?',
    ],
  ],
  [
    'a mistake of shape before it',
    'name: 3\ntoolset:\n  - x\n',
    ['1:7: name: expected text, found the number 3', unknown('3:5', 'x')],
  ],
  [
    'a mistake in the list itself',
    'name: C\ntoolset: [7, todocount, "", todo_count, y]\n',
    [
      '2:11: toolset[0]: expected text, found the number 7',
      unknown('2:14', 'todocount', COUNT),
      '2:25: toolset[2]: must not be empty',
      unknown('2:41', 'y'),
    ],
  ],
  [
    'a mistake of syntax',
    'name: C\ndescription: "open\ntoolset: [todocount]\n',
    [expect.stringMatching(/^2:\d+: /), unknown('3:11', 'todocount', COUNT)],
  ],
  [
    'a mistake of syntax below it, which comes first',
    'name: C\ntoolset: [todocount]\nplugins: 7\ndescription: "open\n',
    [
      expect.stringMatching(/^4:\d+: not valid YAML: /),
      unknown('2:11', 'todocount', COUNT),
      '3:10: plugins: expected a list, found the number 7',
    ],
  ],
  [
    'wrong settings beside it',
    'name: C\ntoolset: [y]\ntool_settings:\n  todo_count: {limit: many}\nplugins: 3\n',
    [
      unknown('2:11', 'y'),
      expect.stringMatching(/^4:23: tool_settings.todo_count.limit: .*expected/),
      '5:10: plugins: expected a list, found the number 3',
    ],
  ],
  [
    'a reach that is missing for a tool that is offered',
    'name: C\ntoolset: [getter]\nplugins: 3\n',
    [
      '3:10: plugins: expected a list, found the number 3',
      expect.stringMatching(/fs_reach: getter works on the files/),
      expect.stringMatching(/safety.network.allow: getter may request/),
    ],
  ],
  // Keys that are hidden by a mistake are not guessed.
  [
    'nothing of a key with the mistake',
    'name: C\ntoolset: [getter]\nfs_reach: {read: 3}\nsafety: {network: {alow: [x]}}\n',
    [
      '3:18: fs_reach.read: expected a list, found the number 3',
      '4:20: unknown key "alow" in safety.network; did you mean "allow"?',
    ],
  ],
  [
    'nothing of a key that a mistake of syntax hides',
    'name: C\ntoolset: [getter]\nfs_reach:\n\tread: ["${self}"]\n',
    [expect.stringMatching(/^4:\d+: not valid YAML: /)],
  ],
  [
    'nothing of what may stand under a misspelt key',
    'name: C\ntoolset: [getter]\nfs_reach: {read: ["${self}"]}\nsaftey: {network: {allow: [x]}}\n',
    ['4:1: unknown key "saftey"; did you mean "safety"?'],
  ],
  [
    'nothing by the tools of a toolset with a mistake',
    'name: C\ntoolset: 3\n',
    ['2:10: toolset: expected a list, found the number 3'],
  ],
])('the start of a runtime tells at once of %s', async (_, yaml, expected) => {
  const { start, told } = createHome({ coder: yaml });
  expect(await told(start('coder'))).toEqual(expected);
});

it('tells nothing of names that a plugin or a server that is not started may bring', async () => {
  const yaml = 'name: C\ntoolset: [forecast, mcp__hub__x]\nmcp_servers: [hub]\nsaftey: {}\n';
  const { start, told } = createHome({ coder: yaml });
  const mistake = '4:1: unknown key "saftey"; did you mean "safety"?';
  expect(await told(start('coder'))).toEqual([unknown('2:11', 'forecast'), mistake]);
  const plugins = [{ id: 'weather', activate: () => {} }];
  expect(await told(start('coder', { plugins }))).toEqual([mistake]);
});

it('a runtime that changes the personality tells as much, with what its plugins brought', async () => {
  const { start, told } = createHome({
    coder: 'name: Coder\n',
    other: 'name: Other\ntoolset: [forecast, todocount]\nplugins: [wether]\nsaftey: {}\n',
  });
  const forecast = { ...counter, name: 'forecast' };
  const plugins: ToolRuntimeOptions['plugins'] = [
    { id: 'weather', activate: (api) => api.registerTool(forecast) },
  ];
  const runtime = await start('coder', { plugins });
  onTestFinished(() => runtime.close());
  expect(await told(runtime.switchPersonality('other'))).toEqual([
    unknown('2:21', 'todocount', COUNT),
    '3:11: plugins: wether is no plugin that is loaded; did you mean "weather"?',
    '4:1: unknown key "saftey"; did you mean "safety"?',
  ]);
});
