import { AgentLoop } from '@ethosagent/agent-loop';
import { imageScalerOf } from '../installed-scaler.js';
import { assertKnownOptions, RUNTIME_OPTIONS } from '../known-options.js';
import { openToolRuntime } from '../open-tool-runtime.js';
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
 * Creates an agent. This module loads the loop and the engine, so it is loaded for the first agent.
 *
 * @param options a copy, which the host does not change
 */
export async function openAgent(options: AgentOptions & { cwd: string }): Promise<Agent> {
  assertKnownOptions(options, AGENT_OPTIONS);
  const { personality, approve, limits, toolLimits, imageScaler: given, ...rest } = options;
  const imageScaler = await imageScalerOf(given);
  const runtime = await openToolRuntime(
    {
      ...rest,
      personality,
      imageScaler: imageScaler ?? false,
      ...(toolLimits !== undefined && { limits: toolLimits }),
    },
    rest.cwd,
  );
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
