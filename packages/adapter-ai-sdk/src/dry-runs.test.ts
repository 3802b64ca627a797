import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { createTestFolder } from '@ethosagent/test-support';
import { createToolRuntime } from '@ethosagent/wiring';
import { generateText, stepCountIs } from 'ai';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { scriptedModel } from './fixtures/scripted-model.js';
import { aiToolApproval, aiTools } from './index.js';

it('a dry run asks nobody, and leaves no question that a later yes would run', async () => {
  const folder = createTestFolder('ai-dry-runs');
  folder.put('../home/personalities/clerk/config.yaml', 'name: Clerk\n', 0o600);
  const sent: string[] = [];
  const send = defineTool({
    name: 'send',
    description: 'Sends.',
    input: z.object({ to: z.string() }),
    capabilities: {},
    requiresApproval: true,
    execute: async ({ to }) => {
      sent.push(to);
      return ok('sent');
    },
  });
  const runtime = await createToolRuntime({
    home: `${folder.base}/home`,
    cwd: folder.dir,
    personality: 'clerk',
    tools: [send],
  });
  onTestFinished(async () => {
    await runtime.close();
    folder.remove();
  });
  const session = runtime.session('s');
  const tools = await aiTools(session, { dryRun: true });
  const model = scriptedModel([['send', { to: 'ada' }, 'c']], 'Done.');
  const run = await generateText({ model, tools, prompt: 'Go.', stopWhen: stepCountIs(3) });
  expect(run.text).toBe('Done.');
  expect(JSON.stringify(run.response.messages)).toContain('[dry-run] send would be called');
  expect(await session.pending()).toEqual([]);
  expect(Object.keys(aiToolApproval(session, tools))).toEqual([]);
  expect(Object.keys(aiToolApproval(session, await aiTools(session)))).toEqual(['send']);
  expect(sent).toEqual([]);
});
