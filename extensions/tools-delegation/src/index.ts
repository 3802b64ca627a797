export { createDelegationTools } from './delegation-tools.js';
export { readQuarantinedTool } from './read-quarantined.js';
export { taskTool } from './task.js';
export { taskCancelTool } from './task-cancel.js';
export { taskResultTool } from './task-result.js';
export { taskStartTool } from './task-start.js';
export { taskStatusTool } from './task-status.js';
