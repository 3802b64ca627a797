import type { AnyTool, ToolCallResult } from '@ethosagent/types';
import type { AgentTools } from '../api.js';

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
      const admitted = calls.filter(({ name }) => within.includes(name));
      const host = { ...options.host, quotaSession };
      const results = await tools.execute(admitted, { ...options, tools: within, host });
      const answers = results.values();
      return calls.map((call) =>
        within.includes(call.name) ? (answers.next().value ?? leftOut(call)) : leftOut(call),
      );
    },
  };
  const { endSession, personalities } = tools;
  if (personalities !== undefined) narrowed.personalities = () => personalities.call(tools);
  if (endSession !== undefined) narrowed.endSession = (id) => endSession.call(tools, id);
  return narrowed;
}

function leftOut({ toolCallId, name }: { toolCallId: string; name: string }): ToolCallResult {
  const error = `${name} is not among the tools of this sub-agent`;
  return {
    toolCallId,
    name,
    result: { ok: false, code: 'not_available', error, cause: 'TOOL_NOT_ALLOWED' },
  };
}
