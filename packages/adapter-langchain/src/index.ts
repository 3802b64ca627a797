export { ToolCallError } from '@ethosagent/core';
export { answerInterrupts } from './answer-interrupts.js';
export {
  type ForeignLangchainTool,
  type ForeignToolCall,
  type FromLangchainToolOptions,
  fromLangchainTool,
} from './from-langchain-tool.js';
export { langchainRefusals, type WrappedToolCall } from './langchain-refusals.js';
export type { LangchainTool } from './session-tool.js';
export { type LangchainToolsOptions, toLangchainTools } from './to-langchain-tools.js';
export { isToolInterrupt, type ToolAnswer, type ToolInterrupt } from './tool-interrupt.js';
export type { ToolArtifact } from './tool-output.js';
