import type { ToolUseBlockParam } from '@anthropic-ai/sdk/resources/messages';
import type { ToolCall } from '@ethosagent/types';

/**
 * A message of the model: as a client of the SDK gave it, beta or not, or as `messages` of a request
 * have it.
 */
export interface ToolUseMessage {
  content?: string | readonly (ToolUseBlockParam | { readonly type: string })[];
  /** Absent in what `messages` of a request have. */
  stop_reason?: string | null;
}

/** A call in a message, with its toolset if it has one. */
export interface ToolUse {
  call: ToolCall;
  toolset?: string;
}

/** The calls in a message that the client must run, in order. */
export function toolUsesOf({ content }: ToolUseMessage): ToolUse[] {
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
 * Why the calls of a message must not run: the model had not finished the message. A call that was
 * cut off may still have valid arguments that are not the ones that the model meant.
 *
 * @returns `undefined` for a complete message
 */
export function cutOffBy({ stop_reason }: ToolUseMessage): string | undefined {
  if (stop_reason === undefined || stop_reason === 'tool_use') return undefined;
  return stop_reason ?? 'no stop reason';
}
