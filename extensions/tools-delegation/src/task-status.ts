import { defineTool, ok, withFailures } from '@ethosagent/plugin-sdk';
import type { DelegationInfo } from '@ethosagent/types';
import { z } from 'zod';
import { DELEGATION_FAILURES } from './failures.js';
import { renderLine } from './render-task.js';
import { taskId } from './task-input.js';

/** How many tasks a list shows. When more than that run, it shows all that run. */
const MAX_SHOWN = 50;

/** Shows the states of the session's tasks. Needs `delegation` with `background`. */
export const taskStatusTool = defineTool({
  name: 'task_status',
  description:
    'See the state of the tasks that task_start began in this session, or of one of them: running, done, failed, cancelled, or interrupted (the program ended, or another process still runs it).',
  toolset: 'delegation',
  input: z.strictObject({
    id: taskId.optional().describe('The id that task_start answered. All tasks when absent.'),
  }),
  capabilities: { delegation: { background: true } },
  effects: [],
  supportsDryRun: true,
  execute: ({ id }, ctx) =>
    withFailures(DELEGATION_FAILURES, async () => {
      const all = id === undefined ? await ctx.delegation.list() : [await ctx.delegation.get(id)];
      const shown = newest(all);
      const left = all.length - shown.length;
      const lines = [
        ...(left > 0 ? [`${left} older ones are not shown; ask for them by id.`] : []),
        ...shown.map(renderLine),
      ];
      return ok(lines.join('\n') || 'This session has started no tasks.', {
        structured: { tasks: shown.map(withoutAnswer), left },
      });
    }),
});

function newest(tasks: readonly DelegationInfo[]): DelegationInfo[] {
  const ended = tasks.filter(({ state }) => state !== 'running');
  const dropped = new Set(ended.slice(0, Math.max(0, tasks.length - MAX_SHOWN)));
  return tasks.filter((task) => !dropped.has(task));
}

/**
 * Leaves out the text of the sub-agent. Only `task_result` gives it, because its output is marked.
 */
function withoutAnswer({ result: _, error: __, ...info }: DelegationInfo) {
  return info;
}
