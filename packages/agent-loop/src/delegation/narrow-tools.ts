import type { AnyTool, ToolCall, ToolCallResult } from '@ethosagent/types';
import type { AgentBatchOptions, AgentTools } from '../api.js';
import { refusing } from '../refusing.js';

/**
 * The tools with these names, of those that there are, for a sub-agent. Whoever gets the result
 * can't widen it: further names only narrow it further.
 *
 * @param quotaSession the session of the agent above, whose quotas its calls use up; of agents
 * below each other it is that of the one at the top
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
      // An allow list lets the tools of MCP servers through, which others filter.
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

/** The others are refused here. They are passed on to be written down, and to nothing that runs. */
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
  const error = `${name} is not among the tools of this sub-agent`;
  return {
    toolCallId,
    name,
    result: { ok: false, code: 'not_available', error, cause: 'TOOL_NOT_ALLOWED' },
  };
}
