import type { ToolResultBlockParam } from '@anthropic-ai/sdk/resources/messages';
import type { PendingApproval, SessionResult, ToolSession } from '@ethosagent/core';
import { callListener } from '@ethosagent/policy';
import { type AnthropicCallOptions, batchOptions } from './batch-options.js';
import { contentOf } from './result-content.js';
import { cutOffBy, type ToolUse, type ToolUseMessage, toolUsesOf } from './tool-use.js';

export interface RunToolUseOptions extends AnthropicCallOptions {
  signal?: AbortSignal;
  /**
   * Results that are there already, by their `tool_use_id`: those of an earlier run of this message,
   * and of tools that the session does not have. Their calls are not run.
   */
  results?: readonly ToolResultBlockParam[];
}

/** The message that answers all calls of another. */
export interface ToolUseReply {
  role: 'user';
  content: ToolResultBlockParam[];
}

/** What became of the calls of a message. There is a reply once all of them have a result. */
export type ToolUseRun = {
  /** In the order of the calls. It is plain JSON, for the next run of the message. */
  results: ToolResultBlockParam[];
  /** What waits for `session.decide`. */
  waiting: PendingApproval[];
} & (
  | {
      /** The message calls nothing. */
      status: 'none';
    }
  | { status: 'waiting' }
  | {
      status: 'complete';
      /** Goes behind the message. */
      reply: ToolUseReply;
    }
);

/**
 * Runs the calls of a message of the model as one batch of the session. Without `approve` in the
 * session, calls may wait. Then there is no reply yet, because the API takes all results at once:
 * decide on the calls, and run the message again with the results that you have.
 *
 * A message that was cut off (a `stop_reason` other than `tool_use`) runs nothing, and each of its
 * calls gets that as its answer. An aborted call gets a failed result. Nothing throws.
 *
 * @param session whose tools the calls are of
 * @param message of the model
 * @param options a signal, and the `results` of an earlier run of this message
 * @returns the reply for the API, or the calls that wait
 */
export async function runToolUse(
  session: Pick<ToolSession, 'execute' | 'refuse'>,
  message: ToolUseMessage,
  options: RunToolUseOptions = {},
): Promise<ToolUseRun> {
  const { signal, results: given = [], ...callOptions } = options;
  const uses = toolUsesOf(message);
  const known = new Map(given.map((result) => [result.tool_use_id, result]));
  const waiting: PendingApproval[] = [];
  const open = uses.filter(({ call }) => !known.has(call.toolCallId));
  const cut = cutOffBy(message);
  const refused = open.filter(({ toolset }) => cut !== undefined || toolset !== undefined);
  for (const use of refused) {
    known.set(use.call.toolCallId, refusalOf(use, await refusedBy(session, use, cut)));
  }
  const calls = open.filter((use) => !refused.includes(use)).map(({ call }) => call);
  const answers = await session.execute(calls, batchOptions(callOptions, signal));
  for (const answer of answers) {
    callListener(() => options.onResult?.(answer));
    if (answer.approval === undefined) known.set(answer.toolCallId, resultOf(answer));
    else waiting.push(answer.approval);
  }
  const results = uses.flatMap(({ call }) => known.get(call.toolCallId) ?? []);
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
