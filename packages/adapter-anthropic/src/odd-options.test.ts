import { createTestFolder, errorsWithoutSession } from '@ethosagent/test-support';
import { createToolRuntime, type ToolRuntime } from '@ethosagent/wiring';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { toAnthropicDefinitions } from './definitions.js';
import { fromAnthropicTool } from './from-anthropic-tool.js';
import { pendingFor } from './pending-for.js';
import { recordUnknownTools } from './record-unknown-tools.js';
import { runToolUse } from './run-tool-use.js';
import { toAnthropicTools } from './to-anthropic-tools.js';

// What plain JavaScript can pass, and TypeScript refuses.

const folder = createTestFolder('odd-options');
let runtime: ToolRuntime;
beforeAll(async () => {
  folder.put('../home/personalities/clerk/config.yaml', 'name: Clerk\n', 0o600);
  runtime = await createToolRuntime({
    home: `${folder.base}/home`,
    cwd: folder.dir,
    personality: 'clerk',
    tools: ['read_file'],
  });
});
afterAll(async () => {
  await runtime.close();
  folder.remove();
});

const loose = (exit: unknown): ((...given: unknown[]) => unknown) => Object(exit);

it.each<[string, unknown]>([
  ['tools', 'read_file'],
  ['tools', null],
  ['tools', Promise.resolve(['read_file'])],
  ['dryRun', 'true'],
  ['resultBudgetChars', Number.NaN],
])('toAnthropicTools refuses an option of another kind: %s', async (name, value) => {
  const options = { [name]: value } as Parameters<typeof toAnthropicTools>[1];
  await expect(toAnthropicTools(runtime.session('s'), options)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining(`toAnthropicTools: ${name} must be `),
  });
});

it.each<[string, unknown]>([
  ['a misspelt name, which filtered nothing', { tool: [] }],
  ['a promise, which filtered nothing', Promise.resolve({ tools: [] })],
  ['a text for a list', { tools: 'read_file' }],
])('toAnthropicDefinitions refuses %s', async (_what, options) => {
  await expect(loose(toAnthropicDefinitions)(runtime.session('s'), options)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
  });
});

it.each([Promise.resolve({ content: [] }), null])(
  'runToolUse and pendingFor refuse a message that is %s',
  async (message) => {
    const given = message as Parameters<typeof runToolUse>[1];
    const session = runtime.session('s');
    const refused = { code: 'CONFIG_INVALID', message: expect.stringContaining('after await') };
    await expect(runToolUse(session, given)).rejects.toMatchObject(refused);
    await expect(pendingFor(session, given)).rejects.toMatchObject(refused);
  },
);

it.each([
  ['toAnthropicDefinitions', toAnthropicDefinitions],
  ['pendingFor', pendingFor],
  ['runToolUse', runToolUse],
  ['recordUnknownTools', recordUnknownTools],
] as const)('%s refuses what is no session', async (name, exit) => {
  const refused = {
    code: 'CONFIG_INVALID',
    message: expect.stringContaining(`${name}: give a session of a runtime`),
  };
  const errors = await errorsWithoutSession(exit, runtime.session('s'), {}, []);
  expect(errors).toMatchObject([refused, refused, refused]);
});

it.each<[unknown]>([[undefined], [null], ['x'], [Promise.resolve({})]])(
  'fromAnthropicTool refuses what is no tool: %j',
  (given) => {
    const make = () => fromAnthropicTool(given as Parameters<typeof fromAnthropicTool>[0]);
    expect(make).toThrow('TOOL_INVALID: fromAnthropicTool: give a tool of the framework');
  },
);

it.each<[unknown[]]>([
  [[undefined, []]],
  [[null, []]],
  [[{ content: [] }]],
  [[{ content: [] }, {}]],
])('recordUnknownTools refuses a message and tools that are %j', async (rest) => {
  const given = Reflect.apply(recordUnknownTools, undefined, [runtime.session('s'), ...rest]);
  await expect(given).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('after await'),
  });
});
