import type { ModelMessage, ToolResultPart } from 'ai';

/** What the model gets as the output of a tool. */
export type ModelOutput = ToolResultPart['output'];

/** What `ai` passes to a tool with a call, in every version. */
export interface CallOptions {
  toolCallId: string;
  messages: readonly ModelMessage[];
  abortSignal?: AbortSignal | undefined;
}
