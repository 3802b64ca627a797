import { type PendingApproval, type SessionResult, withoutImageBytes } from '@ethosagent/core';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

/** The key in `_meta` of a result under which a waiting call is described. */
const APPROVAL_KEY = 'ethosagent/approval';

export interface CallResultOptions {
  sessionId: string;
  /** Whether the tool was listed with an `outputSchema`. */
  isStructured: boolean;
}

/** Turns a result into the form for a client. The text is marked if it may be untrusted. */
export function callResultOf(
  { text, images, result, approval, untrusted }: SessionResult,
  { sessionId, isStructured }: CallResultOptions,
): CallToolResult {
  const content: CallToolResult['content'] = [
    { type: 'text', text },
    ...images.map(({ mediaType, data }) => ({
      type: 'image' as const,
      data,
      mimeType: mediaType,
    })),
  ];
  if (approval !== undefined) return waitingResult(approval, { text, sessionId });
  if (!result.ok) return { content, isError: true };
  if (!isStructured) return { content };
  if (untrusted !== true) {
    return { content, structuredContent: withoutImageBytes(result.structured ?? {}) };
  }
  // The protocol requires structured content or an error. This structured content may be untrusted,
  // and can't be marked.
  const note =
    'The call has run. Its structured result is withheld, since it may hold text of others.';
  return { content: [{ type: 'text', text: note }, ...content], isError: true };
}

function waitingResult(
  { toolCallId, question, toolName }: PendingApproval,
  { text, sessionId }: { text: string; sessionId: string },
): CallToolResult {
  const how = [
    text,
    `Somebody has to decide on it, for the session ${sessionId}: toolCallId ${toolCallId}, question ${question}.`,
    `Once it is approved, call ${toolName} again with the same arguments: it then runs, once.`,
  ].join('\n');
  return {
    content: [{ type: 'text', text: how }],
    isError: true,
    _meta: { [APPROVAL_KEY]: { sessionId, toolCallId, question } },
  };
}

/** The result of a call that did not reach the session. */
export function refusedCall(text: string): CallToolResult {
  return { content: [{ type: 'text', text: `not_available: ${text}` }], isError: true };
}
