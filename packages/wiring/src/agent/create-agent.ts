import { assertOptions } from '@ethosagent/policy';
import type { Agent, AgentOptions } from './agent-api.js';
import { AGENT_OPTIONS } from './known-agent-options.js';

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
  assertOptions('createAgent', options, AGENT_OPTIONS);
  // Copied before the loop and the engine are loaded, since the host may change them while it waits.
  const { cwd = process.cwd(), ...rest } = options;
  const { openAgent } = await import('./open-agent.js');
  return openAgent({ ...rest, cwd });
}
