import type { AnyTool } from '@ethosagent/types';
import { readQuarantinedTool } from './read-quarantined.js';
import { taskTool } from './task.js';
import { taskCancelTool } from './task-cancel.js';
import { taskResultTool } from './task-result.js';
import { taskStartTool } from './task-start.js';
import { taskStatusTool } from './task-status.js';

/**
 * Creates `task`, `task_start`, `task_status`, `task_result`, `task_cancel` and `read_quarantined`.
 * A dry run starts and ends no task. No tool declares `effects`, because each call of a sub-agent
 * is checked when it is made.
 *
 * @returns the six tools, ready to register
 */
export function createDelegationTools(): AnyTool[] {
  return [
    taskTool,
    taskStartTool,
    taskStatusTool,
    taskResultTool,
    taskCancelTool,
    readQuarantinedTool,
  ];
}
