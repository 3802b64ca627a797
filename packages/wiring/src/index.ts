export { verifyRuntimeAudit } from './audit-log.js';
export type { ToolName } from './extension-tools.js';
export type { RuntimeMcp, RuntimeMcpParts } from './mcp.js';
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
export type { RuntimeStores, StoreSource } from './stores/runtime-stores.js';
export { createToolRuntime } from './tool-runtime.js';
