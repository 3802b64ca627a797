import type { SessionResult } from '@ethosagent/core';
import { type Output, safeText } from './output.js';

/** Shows what a call of a session gave, and how to go on with one that waits. */
export function tellResult(
  { result, text, approval, durationMs }: SessionResult,
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
  }
}
