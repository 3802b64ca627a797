export type { HeldTool, McpToolDefinition } from '@ethosagent/policy';
export { createMcpBridge } from './bridge.js';
export type { McpBridge, McpBridgeOptions, McpServerStatus } from './bridge-api.js';
export type { McpAsker, McpElicitation, McpSampling } from './client.js';
export type { McpCompletion, McpCompletionRequest } from './complete.js';
export type {
  McpConfig,
  McpOAuthConfig,
  McpProcessServer,
  McpRemoteServer,
  McpServerConfig,
} from './config.js';
export { parseMcpConfig } from './config.js';
export type { McpToolFilter } from './config-keys.js';
export type { McpServerState } from './connection.js';
export type { McpLimits } from './limits.js';
export { mcpServerPart, mcpToolName } from './names.js';
export type { McpAuthorize, McpTokenStore } from './oauth.js';
export type { PinnedMcpBridge, PinnedMcpBridgeOptions } from './pinned-bridge.js';
export { createPinnedMcpBridge } from './pinned-bridge.js';
export type { McpPendingChange, McpPinStore } from './pins.js';
export type { McpLog, McpLogEntry } from './server-log.js';
export type { McpServerIdentity } from './server-pin.js';
export type { McpApproval, McpCallFacts } from './server-tools.js';
export type { McpTemplate, McpVariable } from './templates.js';
