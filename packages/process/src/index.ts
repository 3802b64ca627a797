export { assertArguments } from './assert-arguments.js';
export {
  BackgroundProcessTable,
  DEFAULT_MAX_BACKGROUND_PROCESSES,
} from './background/background-process-table.js';
export type { HeldProcess, NewProcess, ProcessLife } from './background/held-process.js';
export type { OutputLog } from './background/output-log.js';
export type { SessionProcesses } from './background/session-processes.js';
export type { ChildInput } from './child-input.js';
export { assertSafeEnvironment, type BaseEnvironment, baseEnvironment } from './environment.js';
export { findBinary, isExecutableFile } from './find-binary.js';
export { loadRunChild } from './load-run-child.js';
export { endStragglers, TAG_VARIABLE } from './process-tree.js';
export type { ChildOptions, RunningChild } from './run-child.js';
export type { Sandbox } from './sandbox/bubblewrap/bubblewrap.js';
export { openProxySocket, type ProxySocket } from './sandbox/proxy-socket.js';
export { loadSandbox, missingSandbox, sandboxFor } from './sandbox/sandbox-for.js';
export {
  type DirectoryReach,
  directoryReach,
  type PinnedDirectory,
  pinDirectory,
  type ShownRoot,
} from './working-directory.js';
