import type { SessionResult } from '@ethosagent/core';
import { type Output, safeText } from './output.js';

/** Shows what a call of a session gave, and how to go on with one that waits. */
export function tellResult(
  { result, text, approval, durationMs, toolCallId }: SessionResult,
  { session, out }: { session: string; out: Output },
): void {
  if (result.ok) {
    out.line(safeText(text));
    out.note(out.color.dim(`ok, ${Math.round(durationMs)} ms`));
    return;
  }
  out.line(safeText(text));
  out.note(out.color.red(`${result.code}${result.cause === undefined ? '' : `, ${result.cause}`}`));
  if (approval !== undefined) {
    out.note(
      `It waits: decide with "ethosagent approvals approve ${safeText(approval.toolCallId)}", then run it with "ethosagent sessions resume ${safeText(session)}"`,
    );
  } else {
    out.note(hintOf(result.cause, toolCallId));
  }
}

/** What an operator does next: the message itself speaks to the model. */
function hintOf(cause: string | undefined, toolCallId: string): string {
  return cause === 'TOOL_NOT_ALLOWED'
    ? 'Add the tool to "toolset" in the file of the personality, or leave "toolset" out.'
    : `"ethosagent audit show ${safeText(toolCallId)}" shows what it reached, and the line of the policy that decided.`;
}
