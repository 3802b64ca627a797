import {
  type PendingApproval,
  type SessionResult,
  ToolCallError,
  withoutImageBytes,
} from '@ethosagent/core';
import type { FailureCause, ToolErrorCode } from '@ethosagent/types';
import { ToolMessage } from '@langchain/core/messages';

/**
 * The `artifact` of a `ToolMessage`: facts about the call for the program. The model never reads
 * it.
 */
export type ToolArtifact =
  | {
      ok: true;
      durationMs: number;
      structured?: Record<string, unknown>;
      costUsd?: number;
    }
  | {
      ok: false;
      durationMs: number;
      code: ToolErrorCode;
      cause?: FailureCause;
      /** Present if the call did not run, because it waits for this decision. */
      approval?: PendingApproval;
    };

/** The content that the model reads: only text, or text and images. */
export type ToolContent =
  | string
  | ({ type: 'text'; text: string } | { type: 'image'; mimeType: string; data: string })[];

/** The output of a tool with the response format `content_and_artifact`. */
export type ToolOutput = [content: ToolContent | ToolMessage, artifact: ToolArtifact | undefined];

export interface OutputOptions {
  /** The id of the model's tool call; absent if a program made the call. */
  toolCallId: string | undefined;
  images: boolean;
}

/**
 * Converts an answer of the session.
 * @throws `ToolCallError` if a call without an id failed
 */
export function outputOf(answer: SessionResult, { toolCallId, images }: OutputOptions): ToolOutput {
  const artifact = artifactOf(answer, images);
  if (answer.result.ok) return [contentOf(answer, images), artifact];
  if (toolCallId === undefined) throw new ToolCallError(answer);
  // The framework itself would report any returned value as a success, and would add words to a
  // thrown error.
  const message = new ToolMessage({
    tool_call_id: toolCallId,
    name: answer.name,
    status: 'error',
    content: answer.text,
    artifact,
  });
  return [message, undefined];
}

function contentOf({ text, images }: SessionResult, isShown: boolean): ToolContent {
  if (images.length === 0) return text;
  if (!isShown) return `${text}\n[images of this result are left out: this model takes none]`;
  return [
    { type: 'text', text },
    ...images.map(({ mediaType, data }) => ({ type: 'image' as const, mimeType: mediaType, data })),
  ];
}

function artifactOf(
  { result, approval, durationMs }: SessionResult,
  isShown: boolean,
): ToolArtifact {
  if (!result.ok) {
    const { code, cause } = result;
    return {
      ok: false,
      durationMs,
      code,
      ...(cause !== undefined && { cause }),
      ...(approval !== undefined && { approval }),
    };
  }
  const { structured, cost_usd: costUsd } = result;
  const facts = { ok: true as const, durationMs, ...(costUsd !== undefined && { costUsd }) };
  if (structured === undefined) return facts;
  try {
    // A checkpoint stores this as JSON. Images that are shown are already in the content.
    const kept = isShown ? withoutImageBytes(structured) : structured;
    return { ...facts, structured: JSON.parse(JSON.stringify(kept)) };
  } catch {
    return facts;
  }
}
