import type { ToolRuntime } from '@ethosagent/wiring';
import { usageError } from './cli-error.js';
import type { CommandContext } from './command-context.js';
import { type CommandInput, textOption } from './command-spec.js';
import { findWaitingCalls, hasBegun, type WaitingCall } from './waiting-calls.js';

export interface NamedCall extends WaitingCall {
  /** Whether it was named by its number in the list, which another call may have now. */
  isByNumber: boolean;
  /** The runtime with which it was found. */
  runtime: ToolRuntime;
}

export const isUndecided = (call: WaitingCall): boolean =>
  call.approval.decision === undefined && !hasBegun(call);

/** The runtime with which approvals are read and decided. */
export async function openForApprovals(context: CommandContext): Promise<ToolRuntime> {
  return context.openRuntime({ personality: await context.anyPersonalityId() });
}

/**
 * Finds the call that the first argument names, by its number in the list of undecided calls or by
 * its id. `--session` is needed if several sessions have a call with that id.
 *
 * @throws `CONFIG_INVALID` if there is no such call, or more than one
 */
export async function namedCall({
  context,
  args: [name = ''],
  options,
}: CommandInput): Promise<NamedCall> {
  const runtime = await openForApprovals(context);
  const sessionId = textOption(options, 'session');
  const { calls, problems } = await findWaitingCalls(runtime);
  const listed = calls.filter(isUndecided);
  const byNumber = /^[1-9]\d*$/.test(name) ? listed[Number(name) - 1] : undefined;
  const found = new Set(calls.filter(({ approval }) => approval.toolCallId === name));
  if (byNumber !== undefined) found.add(byNumber);
  const inSession = [...found].filter(
    (call) => sessionId === undefined || call.sessionId === sessionId,
  );
  // A call that was asked about again may also be in the list of those that may have run.
  const waiting = inSession.filter((call) => !hasBegun(call));
  const matching = waiting.length > 0 ? waiting : inSession;
  const [call] = matching;
  if (call === undefined) {
    const unread = problems.length === 0 ? '' : `; ${problems.length} sessions can not be read`;
    throw usageError(
      `no call ${name} waits${sessionId === undefined ? '' : ` in the session ${sessionId}`}${unread}; "ethosagent approvals list" shows those that do`,
    );
  }
  if (matching.length > 1) {
    throw usageError(
      `${name} could be each of these; name one with its id and --session:\n${matching.map(candidateText).join('\n')}`,
    );
  }
  return { ...call, isByNumber: call.approval.toolCallId !== name, runtime };
}

function candidateText({ sessionId, approval: { toolCallId, toolName } }: WaitingCall): string {
  return `  ${toolCallId} --session ${sessionId}  ${toolName}`;
}
