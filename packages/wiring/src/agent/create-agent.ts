import { assertKnownOptions, RUNTIME_OPTIONS } from '../known-options.js';
import type { ToolRuntimeOptions } from '../runtime-api.js';
import type { Agent, AgentOptions } from './agent-api.js';

/** The type makes this list complete, except for the options of the runtime. */
const OF_LOOP: Readonly<Record<Exclude<keyof AgentOptions, keyof ToolRuntimeOptions>, true>> = {
  toolLimits: true,
  model: true,
  instructions: true,
  identity: true,
  retries: true,
  prices: true,
  delegation: true,
  context: true,
  toolSearch: true,
  onInternal: true,
  toolImages: true,
  modelSettings: true,
  now: true,
};
const AGENT_OPTIONS = [...RUNTIME_OPTIONS, ...Object.keys(OF_LOOP)];

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
  assertKnownOptions(options, AGENT_OPTIONS);
  // Read before the loop and the engine are loaded, since the host may change them while it waits.
  const { cwd = process.cwd(), ...rest } = options;
  const { openAgent } = await import('./open-agent.js');
  return openAgent({ ...rest, cwd });
}
