export { assertArguments } from './assert-arguments.js';
export {
  BackgroundProcessTable,
  DEFAULT_MAX_BACKGROUND_PROCESSES,
} from './background/background-process-table.js';
export type { HeldProcess, NewProcess, ProcessLife } from './background/held-process.js';
export type { OutputLog } from './background/output-log.js';
export type { SessionProcesses } from './background/session-processes.js';
export type { ChildInput } from './child-input.js';
export { processesEnded } from './ending-processes.js';
export { assertSafeEnvironment, type BaseEnvironment, baseEnvironment } from './environment.js';
export { findBinary, isExecutableFile } from './find-binary.js';
export { loadRunChild } from './load-run-child.js';
export { type Marks, ProcessMarks, TAG_VARIABLE } from './process-marks.js';
export { endStragglers } from './process-tree.js';
export { isProcessLimitSet, resolveLimits } from './resolve-limits.js';
export type { ChildOptions, RunningChild } from './run-child.js';
export { bubblewrapSandbox } from './sandbox/bubblewrap/bubblewrap-sandbox.js';
export { openProxySocket, type ProxySocket } from './sandbox/proxy-socket.js';
export { missingSandbox, resolveSandbox, type SandboxChoice } from './sandbox/resolve-sandbox.js';
export type {
  Sandbox,
  SandboxCommand,
  SandboxedCommand,
  SandboxObserver,
  SandboxOptions,
} from './sandbox/sandbox.js';
export { createCallMarks } from './supervisor/host-tag.js';
export { loadSupervisor } from './supervisor/load-supervisor.js';
export { supervisorProblem } from './supervisor/supervisor-problem.js';
export {
  type DirectoryReach,
  directoryReach,
  NOTHING_SHOWN,
  type PinnedDirectory,
  pinDirectory,
  realPathOf,
  type ShownReach,
  type ShownRoot,
} from './working-directory.js';
