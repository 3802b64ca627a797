import type { Agent, AgentOptions } from './agent-api.js';

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
  // Copied before the loop and the engine are loaded, since the host may change them while it waits.
  // What is no object is refused there as it is.
  const isObject = Object(options) === options && !(options instanceof Promise);
  const given = isObject ? { ...options } : options;
  const cwd = given?.cwd ?? process.cwd();
  const { openAgent } = await import('./open-agent.js');
  return openAgent(given, cwd);
}
