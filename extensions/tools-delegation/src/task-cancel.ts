import { defineTool, ok, withFailures } from '@ethosagent/plugin-sdk';
import { z } from 'zod';
import { DELEGATION_FAILURES } from './failures.js';
import { renderHead } from './render-task.js';
import { taskId } from './task-input.js';

/** Cancels a task of the session. Needs `delegation` with `background`. */
export const taskCancelTool = defineTool({
  name: 'task_cancel',
  description: 'End a task that task_start began. What it has already done stays done.',
  toolset: 'delegation',
  input: z.strictObject({ id: taskId }),
  capabilities: { delegation: { background: true } },
  effects: [],
  supportsDryRun: true,
  execute: ({ id }, ctx) =>
    withFailures(DELEGATION_FAILURES, async () => {
      const before = await ctx.delegation.get(id);
      if (before.state === 'interrupted') {
        return ok(
          `${renderHead(before)}. It was not cancelled: the process that ran it has ended, or another process still runs it; only that one can cancel it.`,
        );
      }
      if (before.state !== 'running') return ok(`${renderHead(before)}. It had ended already.`);
      if (ctx.dryRun) return ok(`${id} would be cancelled.`);
      const info = await ctx.delegation.cancel(id);
      const { result: _, error: __, ...task } = info;
      return ok(renderHead(info), { structured: { task } });
    }),
});
