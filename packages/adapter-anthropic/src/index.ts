export type { AnthropicCallOptions } from './batch-options.js';
export {
  type AnthropicDefinition,
  type AnthropicDefinitionsOptions,
  toAnthropicDefinitions,
} from './definitions.js';
export {
  type ForeignAnthropicTool,
  type FromAnthropicToolOptions,
  fromAnthropicTool,
} from './from-anthropic-tool.js';
export { pendingFor } from './pending-for.js';
export { recordUnknownTools } from './record-unknown-tools.js';
export type { ResultContent } from './result-content.js';
export {
  type RunToolUseOptions,
  runToolUse,
  type ToolUseReply,
  type ToolUseRun,
} from './run-tool-use.js';
export { type AnthropicTool, toAnthropicTools } from './to-anthropic-tools.js';
export type { ToolUseMessage } from './tool-use.js';
