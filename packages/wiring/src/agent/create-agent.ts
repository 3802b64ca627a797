import { AgentLoop, type AgentLoopOptions } from '@ethosagent/agent-loop';
import { imageScalerOf } from '../installed-scaler.js';
import type { ToolRuntime, ToolRuntimeOptions } from '../runtime-api.js';
import { createToolRuntime } from '../tool-runtime.js';

/** What an agent is made of: a runtime, a model, and how to run it. */
export interface AgentOptions
  extends Omit<ToolRuntimeOptions, 'approve' | 'limits'>,
    Omit<AgentLoopOptions, 'tools' | 'sessions' | 'personality' | 'imageScaler'> {
  /** Limits of the tool registry; `limits` are those of a turn. */
  toolLimits?: ToolRuntimeOptions['limits'];
}

/** An agent: the loop, over the tools of a runtime. */
export interface Agent {
  readonly loop: AgentLoop;
  readonly runtime: ToolRuntime;
  /** Ends the turns that run, their sub-agents and what tools left running; closes the stores. */
  close(): Promise<void>;
}

/**
 * The front door for agents: a runtime, and an agent loop over it. Each turn runs under the active
 * personality, as its file says when the turn begins.
 *
 * @param options those of `createToolRuntime`, the model, limits, and who approves calls
 * @returns the agent; call `close` at the end
 * @throws as `createToolRuntime`
 * @throws `CONFIG_INVALID` for an option of the loop that is wrong
 *
 * @example
 * ```ts
 * const agent = await createAgent({
 *   model,
 *   home: '/var/lib/agent/.ethos',
 *   personality: 'assistant',
 *   tools: ['read_file'],
 * });
 * for await (const event of agent.loop.run({ sessionId: 'first', prompt: 'Read notes.txt.' })) {
 *   if (event.type === 'text') process.stdout.write(event.text);
 * }
 * await agent.close();
 * ```
 */
export async function createAgent(options: AgentOptions): Promise<Agent> {
  const { personality, approve, limits, toolLimits, imageScaler: given, ...rest } = options;
  const imageScaler = await imageScalerOf(given);
  const runtime = await createToolRuntime({
    ...rest,
    personality,
    imageScaler: imageScaler ?? false,
    ...(toolLimits !== undefined && { limits: toolLimits }),
  });
  let loop: AgentLoop;
  try {
    loop = new AgentLoop({
      ...rest,
      tools: runtime,
      sessions: runtime.sessions,
      ...(imageScaler !== undefined && { imageScaler }),
      ...(approve !== undefined && { approve }),
      ...(limits !== undefined && { limits }),
    });
  } catch (error) {
    await runtime.close();
    throw error;
  }
  return {
    loop,
    runtime,
    async close() {
      try {
        await loop.close();
      } finally {
        await runtime.close();
      }
    },
  };
}
