import { createTestFolder, errorsWithoutSession } from '@ethosagent/test-support';
import { createToolRuntime, type ToolRuntime } from '@ethosagent/wiring';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fromLangchainTool } from './from-langchain-tool.js';
import { langchainRefusals } from './langchain-refusals.js';
import { toLangchainTools } from './to-langchain-tools.js';

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
  ['approvals', 'interupt'],
  ['images', 'false'],
  ['by', 5],
])('toLangchainTools refuses an option of another kind: %s', async (name, value) => {
  const options = { [name]: value } as Parameters<typeof toLangchainTools>[1];
  await expect(toLangchainTools(runtime.session('s'), options)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining(`toLangchainTools: ${name} must be `),
  });
});

it.each([['langchainRefusals', langchainRefusals]] as const)(
  '%s refuses what is no session',
  async (name, exit) => {
    const refused = {
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(`${name}: give a session of a runtime`),
    };
    const errors = await errorsWithoutSession(exit, runtime.session('s'), {});
    expect(errors).toMatchObject([refused, refused, refused]);
  },
);

it.each<[unknown]>([[undefined], [null], ['x'], [Promise.resolve({})]])(
  'fromLangchainTool refuses what is no tool: %j',
  (given) => {
    const make = () => fromLangchainTool(given as Parameters<typeof fromLangchainTool>[0]);
    expect(make).toThrow('TOOL_INVALID: fromLangchainTool: give a tool of the framework');
  },
);
