import type { ToolCall } from '@ethosagent/types';
import { AIMessage, type BaseMessage, isBaseMessage, ToolMessage } from '@langchain/core/messages';
import type { ToolRunnableConfig } from '@langchain/core/tools';
import { getCurrentTaskInput } from '@langchain/langgraph';

/** The run of a node that a call is part of. */
export interface GraphTask {
  /** The same when the node runs again. */
  id: string;
  /** Another one each time that the node runs. */
  run: object;
  /** What the node was given to call and has no answer yet, as far as it can be told. */
  calls: readonly ToolCall[];
}

/**
 * @returns `undefined` outside a graph, and for a call that has its id with another one: nobody could
 * say which of them an answer is for
 */
export function graphTaskOf(config: ToolRunnableConfig): GraphTask | undefined {
  const { configurable = {}, toolCall } = config;
  const { thread_id: thread, checkpoint_ns: namespace }: Record<string, unknown> = configurable;
  // It ends with the id that a task keeps for as long as its checkpoint is the last one.
  if (typeof namespace !== 'string' || namespace === '') return undefined;
  const input = inputOf(config);
  if (typeof input !== 'object' || input === null) return undefined;
  const calls = callsOf(input);
  if (calls.filter(({ toolCallId }) => toolCallId === toolCall?.id).length > 1) return undefined;
  // Of an agent of `createAgent`, each call has a task of its own.
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
