import { defineTool, err, ok, withFailures } from '@ethosagent/plugin-sdk';
import { DELEGATION_FAILURES } from './failures.js';
import { originOf, renderResult, structuredOf } from './render-task.js';
import { taskInput } from './task-input.js';
import { describeTask, toTask } from './to-task.js';

/** The host limits the time of a task. The call is allowed more, so that it can still tell how the task ended. */
const TIMEOUT_MS = 60 * 60_000;
const TASK_TIMEOUT_MS = TIMEOUT_MS - 30_000;

/**
 * Gives a task to a sub-agent and waits for its answer, which is untrusted if the sub-agent has read
 * untrusted content. Needs `delegation`.
 */
export const taskTool = defineTool({
  name: 'task',
  description:
    'Give a self-contained subtask to a sub-agent and wait for its answer. It works in its own session, with your tools or fewer, and may never do more than you may. Several calls in one step run side by side.',
  toolset: 'delegation',
  input: taskInput,
  capabilities: { delegation: {} },
  effects: [],
  outputIsUntrusted: true,
  supportsDryRun: true,
  timeoutMs: TIMEOUT_MS,
  execute: (args, ctx) =>
    withFailures(DELEGATION_FAILURES, async () => {
      if (ctx.dryRun) return ok(describeTask(args), { untrusted: false });
      const asked = { ...toTask(args), timeoutMs: TASK_TIMEOUT_MS };
      const info = await ctx.delegation.run(asked, (message) =>
        ctx.emit({ type: 'progress', toolName: 'task', message, audience: 'user' }),
      );
      const text = renderResult(info);
      if (info.state !== 'done') return err(text, 'execution_failed', info.cause);
      return ok(text, { structured: structuredOf(info), ...originOf(info) });
    }),
});
