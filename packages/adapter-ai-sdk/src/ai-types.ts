import type { ModelMessage, ToolResultPart } from 'ai';

/** What the model gets instead of a tool's output. */
export type ModelOutput = ToolResultPart['output'];

/** What `ai` tells a tool of a call, in every version. */
export interface CallOptions {
  toolCallId: string;
  messages: readonly ModelMessage[];
  abortSignal?: AbortSignal | undefined;
}
