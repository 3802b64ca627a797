import type { ModelMessage, ToolResultPart } from 'ai';

/** The output of a tool in the form for the model. */
export type ModelOutput = ToolResultPart['output'];

/** The options that every version of `ai` passes to a tool with a call. */
export interface CallOptions {
  toolCallId: string;
  messages: readonly ModelMessage[];
  abortSignal?: AbortSignal | undefined;
}
