import type { AnyTool } from '@ethosagent/types';
import { readQuarantinedTool } from './read-quarantined.js';
import { taskTool } from './task.js';
import { taskCancelTool } from './task-cancel.js';
import { taskResultTool } from './task-result.js';
import { taskStartTool } from './task-start.js';
import { taskStatusTool } from './task-status.js';

/**
 * `task`, `task_start`, `task_status`, `task_result`, `task_cancel` and `read_quarantined`. A dry run begins
 * and ends nothing. None has `effects`: each call of a sub-agent is gated by itself.
 *
 * @returns the tools, to be registered
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
