import type { SessionResult } from '@ethosagent/core';
import { type Output, safeText } from './output.js';

/** Shows the result of a call, and how to continue if it waits. */
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
    // A tool that ran may have reached something, whatever it then said of its arguments.
    out.note((durationMs === 0 && unreachedHint(result.cause)) || hintOf(result.cause, toolCallId));
  }
}

/** The next step after a call whose tool did not run. */
function unreachedHint(cause: string | undefined): string | undefined {
  if (cause === 'TOOL_NOT_FOUND')
    return 'The tool did not run. "ethosagent tools" lists the tools.';
  if (cause === 'INPUT_INVALID') return 'The tool did not run. Call it with other arguments.';
  return undefined;
}

/** The next step for an operator. The message itself is written for the model. */
function hintOf(cause: string | undefined, toolCallId: string): string {
  return cause === 'TOOL_NOT_ALLOWED'
    ? 'Add the tool to "toolset" in the file of the personality, or leave "toolset" out.'
    : `"ethosagent audit show ${safeText(toolCallId)}" shows what it reached, and the line of the policy that decided.`;
}
