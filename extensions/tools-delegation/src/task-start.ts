import { defineTool, ok, withFailures } from '@ethosagent/plugin-sdk';
import { DELEGATION_FAILURES } from './failures.js';
import { structuredOf } from './render-task.js';
import { taskInput } from './task-input.js';
import { describeTask, toTask } from './to-task.js';

/** Starts a task in the background and returns at once. Needs `delegation` with `background`. */
export const taskStartTool = defineTool({
  name: 'task_start',
  description:
    'Give a self-contained subtask to a sub-agent and go on at once. The answer says the id of the task, for task_status, task_result and task_cancel. The task ends with this session.',
  toolset: 'delegation',
  input: taskInput,
  capabilities: { delegation: { background: true } },
  effects: [],
  supportsDryRun: true,
  execute: (args, ctx) =>
    withFailures(DELEGATION_FAILURES, async () => {
      if (ctx.dryRun) return ok(describeTask(args));
      const info = await ctx.delegation.start(toTask(args));
      return ok(`${info.id} was started. task_result with this id waits for its answer.`, {
        structured: structuredOf(info),
      });
    }),
});
