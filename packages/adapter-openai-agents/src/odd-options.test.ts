import { createTestFolder, errorsWithoutSession } from '@ethosagent/test-support';
import { createToolRuntime, type ToolRuntime } from '@ethosagent/wiring';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fromOpenAiTool } from './from-openai-tool.js';
import { openAiRefusals } from './openai-refusals.js';
import { pendingFor } from './pending-for.js';
import { toOpenAiTools } from './to-openai-tools.js';

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
  ['by', 5],
])('toOpenAiTools refuses an option of another kind: %s', async (name, value) => {
  const options = { [name]: value } as Parameters<typeof toOpenAiTools>[1];
  await expect(toOpenAiTools(runtime.session('s'), options)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining(`toOpenAiTools: ${name} must be `),
  });
});

it.each([
  ['openAiRefusals', openAiRefusals],
  ['pendingFor', pendingFor],
] as const)('%s refuses what is no session', async (name, exit) => {
  const refused = {
    code: 'CONFIG_INVALID',
    message: expect.stringContaining(`${name}: give a session of a runtime`),
  };
  const errors = await errorsWithoutSession(exit, runtime.session('s'), {});
  expect(errors).toMatchObject([refused, refused, refused]);
});

it.each<[unknown]>([[undefined], [null], ['x'], [Promise.resolve({})]])(
  'fromOpenAiTool refuses what is no tool: %j',
  (given) => {
    const make = () => fromOpenAiTool(given as Parameters<typeof fromOpenAiTool>[0]);
    expect(make).toThrow('TOOL_INVALID: fromOpenAiTool: give a tool of the framework');
  },
);

it.each<[unknown]>([[undefined], [null], [{}], [Promise.resolve({})]])(
  'pendingFor refuses an interruption that is %j',
  async (given) => {
    const asked = Reflect.apply(pendingFor, undefined, [runtime.session('s'), given]);
    await expect(asked).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('pendingFor: give an interruption of a run, after await'),
    });
  },
);
