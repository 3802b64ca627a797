import type { ToolUseBlockParam } from '@anthropic-ai/sdk/resources/messages';
import { isObject, isThenable } from '@ethosagent/policy';
import { EthosError, type ToolCall } from '@ethosagent/types';

/**
 * A message of the model: the answer of a client of the SDK, beta or not, or an element of
 * `messages` of a request.
 */
export interface ToolUseMessage {
  content?: string | readonly (ToolUseBlockParam | { readonly type: string })[];
  /** Why the model stopped. Absent in an element of `messages` of a request. */
  stop_reason?: string | null;
}

/** A call in a message, with its toolset if it has one. */
export interface ToolUse {
  call: ToolCall;
  toolset?: string;
}

/** Returns the calls in a message that the client must run, in order. */
export function toolUsesOf(message: ToolUseMessage): ToolUse[] {
  // Of a promise, no call would be run or asked about.
  if (!isObject(message) || isThenable(message)) {
    throw new EthosError('CONFIG_INVALID', 'give the message of the model, after await');
  }
  const { content } = message;
  // A message may come from a store, so its shape is checked.
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  return blocks.flatMap((block) => {
    const { type, id, name, input, toolset_name }: Record<string, unknown> = Object(block);
    if (type !== 'tool_use' || typeof id !== 'string' || typeof name !== 'string') return [];
    const call = { toolCallId: id, name, args: input };
    return [typeof toolset_name === 'string' ? { call, toolset: toolset_name } : { call }];
  });
}

/**
 * Returns why the calls of a message must not run: the model had not finished the message. A call
 * that was cut off may still have valid arguments, but not those that the model meant.
 *
 * @returns `undefined` for a complete message
 */
export function cutOffBy({ stop_reason }: ToolUseMessage): string | undefined {
  if (stop_reason === undefined || stop_reason === 'tool_use') return undefined;
  return stop_reason ?? 'no stop reason';
}
