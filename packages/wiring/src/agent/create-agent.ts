import type { AgentLoop, AgentLoopOptions } from '@ethosagent/agent-loop';
import type { ToolRuntime, ToolRuntimeOptions } from '../runtime-api.js';

/** The options of an agent: those of its runtime and of its loop. */
export interface AgentOptions
  extends Omit<ToolRuntimeOptions, 'approve' | 'limits'>,
    Omit<AgentLoopOptions, 'tools' | 'sessions' | 'personality' | 'imageScaler'> {
  /** The limits of the tool registry. `limits` are those of a turn. */
  toolLimits?: ToolRuntimeOptions['limits'];
}

/** An agent: a loop, and the runtime with its tools. */
export interface Agent {
  readonly loop: AgentLoop;
  readonly runtime: ToolRuntime;
  /** Ends all turns, their sub-agents, and what tools left running. Then closes the stores. */
  close(): Promise<void>;
}

/**
 * Creates an agent: a runtime, and an agent loop over its tools. Each turn runs under the active
 * personality, as its file is when the turn begins.
 *
 * @param options those of `createToolRuntime`, the model, limits, and who approves calls
 * @returns the agent; call `close` at the end
 * @throws as `createToolRuntime`
 * @throws `CONFIG_INVALID` for an invalid option of the loop, or an option with an unknown name
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
  // Read before the loop and the engine are loaded, since the host may change its directory while
  // it waits.
  const { cwd = process.cwd() }: Partial<AgentOptions> = Object(options);
  const { openAgent } = await import('./open-agent.js');
  return openAgent(options, cwd);
}
