import type { ToolResultBlockParam } from '@anthropic-ai/sdk/resources/messages';
import {
  assertToolSession,
  type PendingApproval,
  type SessionResult,
  type ToolSession,
} from '@ethosagent/core';
import { assertOptions, callListener, type OptionNames } from '@ethosagent/policy';
import { type AnthropicCallOptions, batchOptions, CALL_OPTIONS } from './batch-options.js';
import { contentOf } from './result-content.js';
import { cutOffBy, type ToolUse, type ToolUseMessage, toolUsesOf } from './tool-use.js';

export interface RunToolUseOptions extends AnthropicCallOptions {
  signal?: AbortSignal;
  /**
   * Results that you already have: those of an earlier run of this message, and those of tools that
   * the session does not have. Calls with the same `tool_use_id` are not run.
   */
  results?: readonly ToolResultBlockParam[];
}

/** The message that answers all calls of a message of the model. */
export interface ToolUseReply {
  role: 'user';
  content: ToolResultBlockParam[];
}

/** The outcome of the calls of a message. It has a reply if all calls have a result. */
export type ToolUseRun = {
  /** The results so far, in the order of the calls, as plain JSON. Pass them to the next run. */
  results: ToolResultBlockParam[];
  /** The calls that wait for `session.decide`. */
  waiting: PendingApproval[];
} & (
  | {
      /** The message has no calls. */
      status: 'none';
    }
  | { status: 'waiting' }
  | {
      status: 'complete';
      /** The message to send after the model's message. */
      reply: ToolUseReply;
    }
);

const OPTIONS: OptionNames<RunToolUseOptions> = { ...CALL_OPTIONS, signal: true, results: true };

/**
 * Runs the calls of a message of the model as one batch of the session. If the session has no
 * `approve`, calls may wait for a decision. There is no reply then, because the API takes all
 * results at once: decide on the calls, and run the message again with the `results` that you have.
 *
 * A message with a `stop_reason` other than `tool_use` was cut off. None of its calls runs, and
 * each gets a failed result that says so. A call that was aborted also gets a failed result.
 *
 * @param session the session of the tools
 * @param message the message of the model
 * @param options a signal, the `results` of an earlier run of this message, and options of the
 * calls
 * @returns the reply for the API, or the calls that wait
 * @throws `CONFIG_INVALID` for unknown options, for a promise of a message, or for something else than
 * a session; nothing else is thrown
 */
export async function runToolUse(
  session: Pick<ToolSession, 'execute' | 'refuse'>,
  message: ToolUseMessage,
  options: RunToolUseOptions = {},
): Promise<ToolUseRun> {
  assertToolSession('runToolUse', session, ['execute', 'refuse']);
  assertOptions('runToolUse', options, OPTIONS);
  const { signal, results: given = [], ...callOptions } = options;
  const uses = toolUsesOf(message);
  const known = new Map(given.map((result) => [result.tool_use_id, result]));
  // By place, since two calls may have one id.
  const done = new Map<ToolUse, ToolResultBlockParam>();
  for (const use of uses) {
    const result = known.get(use.call.toolCallId);
    if (result !== undefined) done.set(use, result);
  }
  const waiting: PendingApproval[] = [];
  const open = uses.filter((use) => !done.has(use));
  const cut = cutOffBy(message);
  const refused = open.filter(({ toolset }) => cut !== undefined || toolset !== undefined);
  for (const use of refused) {
    done.set(use, refusalOf(use, await refusedBy(session, use, cut)));
  }
  const run = open.filter((use) => !refused.includes(use));
  const calls = run.map(({ call }) => call);
  const answers = await session.execute(calls, batchOptions(callOptions, signal));
  for (const [index, use] of run.entries()) {
    const answer = answers[index];
    if (answer === undefined) continue;
    callListener(() => options.onResult?.(answer));
    if (answer.approval === undefined) done.set(use, resultOf(answer));
    else waiting.push(answer.approval);
  }
  const results = uses.flatMap((use) => done.get(use) ?? []);
  if (uses.length === 0) return { status: 'none', results, waiting };
  if (waiting.length > 0) return { status: 'waiting', results, waiting };
  return { status: 'complete', results, waiting, reply: { role: 'user', content: results } };
}

function resultOf(answer: SessionResult): ToolResultBlockParam {
  return {
    type: 'tool_result',
    tool_use_id: answer.toolCallId,
    content: contentOf(answer),
    ...(!answer.result.ok && { is_error: true }),
  };
}

function refusedBy(
  session: Pick<ToolSession, 'refuse'>,
  { call, toolset }: ToolUse,
  cut: string | undefined,
): Promise<SessionResult> {
  if (cut === undefined) {
    const error = `the session has no toolset ${toolset}`;
    return session.refuse(call, { code: 'not_available', error });
  }
  const error = `the message ended before its calls were complete (${cut}), and none of them has run; call again`;
  return session.refuse(call, { code: 'input_invalid', error });
}

function refusalOf({ call, toolset }: ToolUse, { text }: SessionResult): ToolResultBlockParam {
  return {
    type: 'tool_result',
    tool_use_id: call.toolCallId,
    content: text,
    is_error: true,
    // The API requires the name again in the result.
    ...(toolset !== undefined && { toolset_name: toolset }),
  };
}
