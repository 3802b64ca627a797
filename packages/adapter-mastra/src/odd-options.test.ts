import { createTestFolder, errorsWithoutSession } from '@ethosagent/test-support';
import { createToolRuntime, type ToolRuntime } from '@ethosagent/wiring';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { answerApproval } from './answer-approval.js';
import { fromMastraTool } from './from-mastra-tool.js';
import { mastraRefusals } from './mastra-refusals.js';
import { mastraTools } from './mastra-tools.js';

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

it.each<[string, unknown]>([
  ['tools', 'read_file'],
  ['tools', null],
  ['tools', Promise.resolve(['read_file'])],
  ['dryRun', 'true'],
  ['resultBudgetChars', Number.NaN],
])('mastraTools refuses an option of another kind: %s', async (name, value) => {
  const options = { [name]: value } as Parameters<typeof mastraTools>[1];
  await expect(mastraTools(runtime.session('s'), options)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining(`mastraTools: ${name} must be `),
  });
});

it.each([
  ['answerApproval', answerApproval],
  ['mastraRefusals', mastraRefusals],
] as const)('%s refuses what is no session', async (name, exit) => {
  const refused = {
    code: 'CONFIG_INVALID',
    message: expect.stringContaining(`${name}: give a session of a runtime`),
  };
  const errors = await errorsWithoutSession(exit, runtime.session('s'), {});
  expect(errors).toMatchObject([refused, refused, refused]);
});

it.each<[unknown]>([[undefined], [null], ['x'], [Promise.resolve({})]])(
  'fromMastraTool refuses what is no tool: %j',
  (given) => {
    const make = () => fromMastraTool(given as Parameters<typeof fromMastraTool>[0]);
    expect(make).toThrow('TOOL_INVALID: fromMastraTool: give a tool of the framework');
  },
);
