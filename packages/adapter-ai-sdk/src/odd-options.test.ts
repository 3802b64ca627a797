import { createTestFolder, errorsWithoutSession } from '@ethosagent/test-support';
import { createToolRuntime, type ToolRuntime } from '@ethosagent/wiring';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aiRefusals } from './ai-refusals.js';
import { aiTools } from './ai-tools.js';
import { answerApprovals } from './answer-approvals.js';
import { aiToolApproval } from './tool-approval.js';

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
  ['dryRun', 'true'],
  ['resultBudgetChars', Number.NaN],
  ['approvals', 'Session'],
  ['by', 5],
  ['progress', 'yes'],
])('aiTools refuses an option of another kind: %s', async (name, value) => {
  const options = { [name]: value } as Parameters<typeof aiTools>[1];
  await expect(aiTools(runtime.session('s'), options)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining(`aiTools: ${name} must be `),
  });
});

it('aiToolApproval refuses a promise of the tools, of which it would ask about none', () => {
  const session = runtime.session('s');
  const tools: unknown = aiTools(session);
  expect(() => aiToolApproval(session, tools as Awaited<ReturnType<typeof aiTools>>)).toThrow(
    'CONFIG_INVALID: aiToolApproval: give the tools that aiTools returned, after await',
  );
});

it.each([
  ['aiRefusals', aiRefusals],
  ['answerApprovals', answerApprovals],
] as const)('%s refuses what is no session', async (name, exit) => {
  const refused = {
    code: 'CONFIG_INVALID',
    message: expect.stringContaining(`${name}: give a session of a runtime`),
  };
  const errors = await errorsWithoutSession(exit, runtime.session('s'), []);
  expect(errors).toMatchObject([refused, refused, refused]);
});

it.each<[string, (session: unknown) => unknown[]]>([
  ['give the `content` of the last step', (session) => [session]],
  ['give the `content` of the last step', (session) => [session, Promise.resolve([])]],
  ['give a function that decides', (session) => [session, [{ type: 'text' }]]],
])('answerApprovals refuses too little: %s', async (told, given) => {
  const answered = Reflect.apply(answerApprovals, undefined, given(runtime.session('s')));
  await expect(answered).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining(`answerApprovals: ${told}`),
  });
});

it('answerApprovals takes no part of a list that is nothing for a request', async () => {
  const given = [runtime.session('s'), [null, undefined, 'x'], () => ({ approved: true })];
  const answered = await Reflect.apply(answerApprovals, undefined, given);
  expect(answered).toEqual({ role: 'tool', content: [] });
});
