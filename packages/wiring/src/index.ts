export type { ToolName } from './extension-tools.js';
export { compareReachLocks } from './lock/compare-locks.js';
export type { LockChange } from './lock/lock-change.js';
export {
  assertLockIsKept,
  reachLockPath,
  readLockText,
  writeLockText,
} from './lock/lock-file.js';
export { formatReachLock, parseReachLock } from './lock/lock-text.js';
export type { LockPlaces } from './lock/portable-lock.js';
export type {
  LockedPersonality,
  LockedServer,
  LockedText,
  LockedTool,
  ReachLock,
} from './lock/reach-lock.js';
export type { McpServerIdentity, RuntimeMcp, RuntimeMcpParts } from './mcp.js';
export type { PersonalityOptions } from './personality-file.js';
export { loadPersonality, personalityConfigPath } from './personality-file.js';
export type { PersonalityStore } from './personality-store.js';
export { createPersonalityStore } from './personality-store.js';
export { baseEnvironment } from './process-env.js';
export type {
  ExecuteOptions,
  ExecuteResult,
  SessionOptions,
  ToolReach,
  ToolRuntime,
  ToolRuntimeOptions,
} from './runtime-api.js';
export type { RuntimeProblem } from './runtime-problem.js';
export { otherProblemsOf } from './sound-keys.js';
export type { RuntimeStores, StoreSource } from './stores/runtime-stores.js';
export { createToolRuntime } from './tool-runtime.js';
export { installedTools, packageOfTool } from './tools-by-name.js';
export { verifyRuntimeAudit } from './verify-runtime-audit.js';
