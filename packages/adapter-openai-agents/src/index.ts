export { ToolCallError } from '@ethosagent/core';
export {
  type ForeignOpenAiTool,
  type FromOpenAiToolOptions,
  fromOpenAiTool,
} from './from-openai-tool.js';
export { type OpenAiRefusals, openAiRefusals } from './openai-refusals.js';
export { pendingFor } from './pending-for.js';
export { type OpenAiTool, type OpenAiToolsOptions, toOpenAiTools } from './to-openai-tools.js';
