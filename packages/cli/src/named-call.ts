import type { ToolRuntime } from '@ethosagent/wiring';
import { usageError } from './cli-error.js';
import type { CommandContext } from './command-context.js';
import { type CommandInput, textOption } from './command-spec.js';
import { findWaitingCalls, type WaitingCall } from './waiting-calls.js';

/** The call that an operator named. */
export interface NamedCall extends WaitingCall {
  /** It was named by its place in the list, where another one may stand now. */
  isByNumber: boolean;
  /** What it was found with. */
  runtime: ToolRuntime;
}

/** Whether nobody has decided on a call. */
export const isUndecided = ({ approval }: WaitingCall): boolean => approval.decision === undefined;

/** The runtime that approvals are read and decided with: which personality it begins with is no matter. */
export async function openForApprovals(context: CommandContext) {
  const named = context.namedPersonality ?? (await context.config()).personality;
  const [first] = named === undefined ? context.personalityIds() : [named];
  return context.openRuntime(first === undefined ? {} : { personality: first });
}

/**
 * The call of the first argument: its number in the list of those that nobody has decided, or its
 * id, with `--session` where several sessions have a call of that id.
 *
 * @throws `CONFIG_INVALID` where there is none, or more than one
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
  const matching = [...found].filter(
    (call) => sessionId === undefined || call.sessionId === sessionId,
  );
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
