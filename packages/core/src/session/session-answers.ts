import { causeOfThrown, errorText } from '@ethosagent/policy';
import {
  errorCodeOf,
  type FailureCause,
  type ToolCall,
  type ToolCallResult,
  type ToolResult,
} from '@ethosagent/types';
import type { TurnHost } from '../turn-host.js';
import { joinHosts } from './join-hosts.js';
import { modelText } from './mark-result.js';
import { quarantineFailure } from './quarantine.js';
import type { QuarantineAnswer, SessionResult } from './session-api.js';

/**
 * Runs calls of a batch with the hooks of the session.
 * @param own for calls that a tool of the batch makes; replaces the hooks of the batch
 */
export type RunCalls = (
  calls: readonly ToolCall[],
  host: TurnHost,
  own?: { abortSignal: AbortSignal },
) => Promise<ToolCallResult[]>;

/**
 * What may be told about failed calls: the framework's own text, and only the code of a tool's
 * failure.
 */
export function failureOf(
  results: readonly SessionResult[],
  marked: ReadonlySet<number>,
): Extract<QuarantineAnswer, { ok: false }> | undefined {
  const approvals = results.flatMap(({ approval }) => approval ?? []);
  for (const [index, { name, result }] of results.entries()) {
    if (result.ok) continue;
    const { code, cause = 'CALL_INTERRUPTED' } = result;
    const told = marked.has(index)
      ? `${name} failed (${cause}); what it said was not shown`
      : result.error;
    return { ...quarantineFailure(told, cause, code), ...(approvals.length > 0 && { approvals }) };
  }
  return results.length === 0
    ? quarantineFailure('there is no call to read', 'INPUT_INVALID', 'input_invalid')
    : undefined;
}

/**
 * Refuses all calls of a batch. The batch still goes through the registry, which has its own text
 * for what it refuses itself.
 */
export async function refuseAll(
  calls: readonly ToolCall[],
  { error, host, runCalls }: { error: unknown; host: TurnHost | undefined; runCalls: RunCalls },
): Promise<SessionResult[]> {
  const cause = errorCodeOf(error) ?? causeOfThrown(error) ?? 'CONFIG_INVALID';
  const gate = () => ({ refuse: errorText(error), cause });
  const answers = await runCalls(calls, joinHosts(host, { gate }));
  return calls.map((call, index) => {
    const result = answers[index]?.result;
    // A result that came in spite of the refusal is not told.
    return result === undefined || result.ok
      ? refusedResult(call, error)
      : answeredResult(call, result);
  });
}

/** The result that the model gets for a call that waits for a decision. */
export function waits(name: string, problem?: string): ToolResult {
  const next =
    problem === undefined
      ? '. Tell the user, and do not call it again before it is decided'
      : `: ${problem}`;
  return {
    ok: false,
    code: 'not_available',
    error: `${name} needs approval, and waits for a decision; it has not run${next}`,
    cause: 'NOT_APPROVED',
  };
}

/** The parts of a call that can be read; a host may pass anything. */
export function partsOf(call: ToolCall | undefined): ToolCall {
  try {
    const { toolCallId, name, args }: ToolCall = Object(call);
    return { toolCallId, name, args };
  } catch {
    return { toolCallId: '', name: '', args: undefined };
  }
}

/** Reads a call once: it may be an object that answers differently later, or throws. */
export function readOnce(call: ToolCall): ToolCall {
  if (typeof call !== 'object' || call === null) return call;
  try {
    const { toolCallId, name, args } = call;
    return { toolCallId, name, args };
  } catch {
    return call;
  }
}

export function answeredResult(call: ToolCall | undefined, result: ToolResult): SessionResult {
  const { toolCallId, name } = partsOf(call);
  return {
    toolCallId,
    name,
    result,
    text: modelText(result),
    images: [],
    durationMs: 0,
  };
}

export function refusedResult(call: ToolCall, error: unknown): SessionResult {
  const cause: FailureCause = errorCodeOf(error) ?? causeOfThrown(error) ?? 'CONFIG_INVALID';
  return answeredResult(call, { ok: false, code: 'not_available', error: errorText(error), cause });
}
