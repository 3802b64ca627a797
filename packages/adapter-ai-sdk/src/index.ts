export { ToolCallError } from '@ethosagent/core';
export { type AiRefusals, aiRefusals } from './ai-refusals.js';
export { type AiTool, type AiToolsOptions, aiTools } from './ai-tools.js';
export {
  type AnswerableContent,
  answerApprovals,
  type WaitingApproval,
} from './answer-approvals.js';
export { type FromAiToolOptions, fromAiTool } from './from-ai-tool.js';
export { type AiToolApproval, aiToolApproval } from './tool-approval.js';
export { ToolOutput } from './tool-output.js';
