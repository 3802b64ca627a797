import { defineTool, ok, withFailures } from '@ethosagent/plugin-sdk';
import { z } from 'zod';
import { DELEGATION_FAILURES } from './failures.js';
import { originOf, renderResult, structuredOf } from './render-task.js';
import { taskId } from './task-input.js';

const MAX_WAIT_SECONDS = 300;

/**
 * Gets the answer of a task, and waits for it up to 300 seconds. The answer is untrusted if the
 * sub-agent has read untrusted content. Needs `delegation` with `background`.
 */
export const taskResultTool = defineTool({
  name: 'task_result',
  description:
    'Get the answer of a task that task_start began. wait_seconds says how long to wait for it.',
  toolset: 'delegation',
  input: z.strictObject({
    id: taskId,
    wait_seconds: z
      .number()
      .min(0)
      .max(MAX_WAIT_SECONDS)
      .default(0)
      .describe('Seconds to wait for the end of a task that still runs.'),
  }),
  capabilities: { delegation: { background: true } },
  effects: [],
  outputIsUntrusted: true,
  supportsDryRun: true,
  timeoutMs: (MAX_WAIT_SECONDS + 30) * 1_000,
  execute: ({ id, wait_seconds }, ctx) =>
    withFailures(DELEGATION_FAILURES, async () => {
      const waitMs = ctx.dryRun ? 0 : wait_seconds * 1_000;
      const info = await ctx.delegation.get(id, { waitMs });
      return ok(renderResult(info), { structured: structuredOf(info), ...originOf(info) });
    }),
});
