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

/** A call of a message, with the toolset that it is of, where there is one. */
export interface ToolUse {
  call: ToolCall;
  toolset?: string;
}

/** The calls of a message that the client is to run, in their order. */
export function toolUsesOf({ content }: ToolUseMessage): ToolUse[] {
  // Messages may come from a store.
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  return blocks.flatMap((block) => {
    const { type, id, name, input, toolset_name }: Record<string, unknown> = Object(block);
    if (type !== 'tool_use' || typeof id !== 'string' || typeof name !== 'string') return [];
    const call = { toolCallId: id, name, args: input };
    return [typeof toolset_name === 'string' ? { call, toolset: toolset_name } : { call }];
  });
}

/**
 * Why the calls of a message are not to be run: the model had not come to their end. A call that was
 * cut off may have arguments that are valid, and are not what it was about to say.
 *
 * @returns `undefined` for a message that is complete
 */
export function cutOffBy({ stop_reason }: ToolUseMessage): string | undefined {
  if (stop_reason === undefined || stop_reason === 'tool_use') return undefined;
  return stop_reason ?? 'no stop reason';
}
