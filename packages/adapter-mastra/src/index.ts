export { ToolCallError } from '@ethosagent/core';
export { type ApprovalAnswer, answerApproval } from './answer-approval.js';
export {
  type ForeignMastraTool,
  type FromMastraToolOptions,
  fromMastraTool,
} from './from-mastra-tool.js';
export { type FinishedStep, mastraRefusals } from './mastra-refusals.js';
export { type MastraTool, type MastraToolsOptions, mastraTools } from './mastra-tools.js';
export { ToolOutput } from './tool-output.js';
