import type { AnyTool, ToolCall, ToolCallResult } from '@ethosagent/types';
import type { AgentBatchOptions, AgentTools } from '../api.js';
import { refusing } from '../refusing.js';

/**
 * The named tools, as the tools of a sub-agent. Their user can't widen the list: further names only
 * narrow it.
 *
 * @param quotaSession the session of the agent at the top, whose quotas the calls use up
 */
export function narrowTools(
  tools: AgentTools,
  names: readonly string[],
  quotaSession: string,
): AgentTools {
  const allowed = new Set(names);
  const narrowed: AgentTools = {
    personality: (id) => tools.personality(id),
    definitions: async (personality) =>
      (await tools.definitions(personality)).filter(({ name }) => allowed.has(name)),
    tool: (name): AnyTool | undefined => (allowed.has(name) ? tools.tool(name) : undefined),
    async execute(calls, options) {
      // An allow list does not apply to the tools of MCP servers, so they are filtered here.
      const within = (options.tools ?? names).filter((name) => allowed.has(name));
      const isWithin = ({ name }: ToolCall) => within.includes(name);
      const host = { ...options.host, quotaSession };
      const admitted = calls.filter(isWithin);
      const others = calls.filter((call) => !isWithin(call));
      const results = (await tools.execute(admitted, { ...options, tools: within, host })).values();
      const refusals = (await refuse(tools, others, options)).values();
      return calls.map(
        (call) => (isWithin(call) ? results : refusals).next().value ?? leftOut(call),
      );
    },
  };
  const { endSession, personalities } = tools;
  if (personalities !== undefined) narrowed.personalities = () => personalities.call(tools);
  if (endSession !== undefined) narrowed.endSession = (id) => endSession.call(tools, id);
  return narrowed;
}

/** Refuses calls of other tools. They go to the registry only to be recorded. Nothing runs. */
async function refuse(
  tools: AgentTools,
  calls: readonly ToolCall[],
  options: AgentBatchOptions,
): Promise<ToolCallResult[]> {
  if (calls.length === 0) return [];
  const { parentCallId } = options.host ?? {};
  const recorded = await tools.execute(calls, {
    ...options,
    tools: [],
    host: {
      ...refusing((call) => options.host?.answers?.(call) ?? { result: leftOut(call).result }),
      ...(parentCallId !== undefined && { parentCallId }),
    },
  });
  return calls.map((call, index) => recorded[index] ?? leftOut(call));
}

function leftOut({ toolCallId, name }: Pick<ToolCall, 'toolCallId' | 'name'>): ToolCallResult {
  const error = `${name} is not among the tools of this sub-agent; go on without it, and say so in your answer`;
  return {
    toolCallId,
    name,
    result: { ok: false, code: 'not_available', error, cause: 'TOOL_NOT_ALLOWED' },
  };
}
