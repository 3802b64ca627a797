import { AgentLoop, type AgentLoopOptions } from '@ethosagent/agent-loop';
import { imageScalerOf } from '../installed-scaler.js';
import { assertKnownOptions, RUNTIME_OPTIONS } from '../known-options.js';
import type { ToolRuntime, ToolRuntimeOptions } from '../runtime-api.js';
import { openToolRuntime } from '../tool-runtime.js';

/** The options of an agent: those of its runtime and of its loop. */
export interface AgentOptions
  extends Omit<ToolRuntimeOptions, 'approve' | 'limits'>,
    Omit<AgentLoopOptions, 'tools' | 'sessions' | 'personality' | 'imageScaler'> {
  /** The limits of the tool registry. `limits` are those of a turn. */
  toolLimits?: ToolRuntimeOptions['limits'];
}

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
  assertKnownOptions(options, AGENT_OPTIONS);
  const { personality, approve, limits, toolLimits, imageScaler: given, ...rest } = options;
  const imageScaler = await imageScalerOf(given);
  const runtime = await openToolRuntime({
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
