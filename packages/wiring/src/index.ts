export type { RuntimeMcp, RuntimeMcpParts } from './mcp.js';
export type { PersonalityOptions } from './personality-file.js';
export { loadPersonality, personalityConfigPath } from './personality-file.js';
export type { PersonalityStore } from './personality-store.js';
export { createPersonalityStore } from './personality-store.js';
export type { RuntimeProblem } from './problems.js';
export { baseEnvironment } from './process-env.js';
export type { ExecuteOptions, ToolReach, ToolRuntime, ToolRuntimeOptions } from './runtime-api.js';
export { createToolRuntime } from './tool-runtime.js';
