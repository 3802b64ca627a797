import type { ToolCall } from '@ethosagent/types';
import { AIMessage, type BaseMessage, isBaseMessage, ToolMessage } from '@langchain/core/messages';
import type { ToolRunnableConfig } from '@langchain/core/tools';
import { getCurrentTaskInput } from '@langchain/langgraph';

/** The run of a node to which a call belongs. */
export interface GraphTask {
  /** Stays the same when the node runs again. */
  id: string;
  /** A new object each time that the node runs. */
  run: object;
  /** The calls that the node got and that have no answer yet, as far as they are known. */
  calls: readonly ToolCall[];
}

/**
 * Returns the run of a node to which a call belongs.
 * @returns `undefined` outside a graph, and for a call whose id another call also has: nobody would
 * know to which of them an answer belongs
 */
export function graphTaskOf(config: ToolRunnableConfig): GraphTask | undefined {
  const { configurable = {}, toolCall } = config;
  const { thread_id: thread, checkpoint_ns: namespace }: Record<string, unknown> = configurable;
  // It ends with the id of the task, which stays the same as long as its checkpoint is the last
  // one.
  if (typeof namespace !== 'string' || namespace === '') return undefined;
  const input = inputOf(config);
  if (typeof input !== 'object' || input === null) return undefined;
  const calls = callsOf(input);
  if (calls.filter(({ toolCallId }) => toolCallId === toolCall?.id).length > 1) return undefined;
  // In an agent of `createAgent`, each call has a task of its own.
  const isOneCall = 'lg_tool_call' in input;
  return {
    id: JSON.stringify([thread, namespace]),
    run: input,
    calls: isOneCall ? [] : calls,
  };
}

function inputOf(config: ToolRunnableConfig): unknown {
  try {
    return getCurrentTaskInput(config);
  } catch {
    return undefined;
  }
}

function callsOf(input: object): ToolCall[] {
  const messages = Array.isArray(input) ? input : 'messages' in input ? input.messages : [];
  if (!Array.isArray(messages)) return [];
  const list = messages.filter((each): each is BaseMessage => isBaseMessage(each));
  const calling = list.findLast((message) => AIMessage.isInstance(message));
  if (calling === undefined || !AIMessage.isInstance(calling)) return [];
  const answered = new Set(
    list.flatMap((message) => (ToolMessage.isInstance(message) ? message.tool_call_id : [])),
  );
  return (calling.tool_calls ?? []).flatMap(({ id, name, args }) =>
    id === undefined || answered.has(id) ? [] : { toolCallId: id, name, args },
  );
}
