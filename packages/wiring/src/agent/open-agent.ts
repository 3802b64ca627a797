import { AgentLoop } from '@ethosagent/agent-loop';
import { assertOptions, type OptionNames } from '@ethosagent/policy';
import { imageScalerOf } from '../installed-scaler.js';
import { RUNTIME_OPTIONS } from '../known-options.js';
import { openToolRuntime } from '../open-tool-runtime.js';
import type { ToolRuntimeOptions } from '../runtime-api.js';
import type { Agent, AgentOptions } from './agent-api.js';

/** The options that go to the loop as they are. */
const LOOP_OPTIONS: OptionNames<Omit<AgentOptions, keyof ToolRuntimeOptions | 'toolLimits'>> = {
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
const OPTIONS: OptionNames<AgentOptions> = {
  ...RUNTIME_OPTIONS,
  ...LOOP_OPTIONS,
  toolLimits: true,
};

/**
 * Creates an agent. This module loads the loop and the engine, so it is loaded for the first agent.
 *
 * @param options a copy, which the host does not change
 * @param cwd where the tools work
 */
export async function openAgent(options: AgentOptions, cwd: string): Promise<Agent> {
  assertOptions('createAgent', options, OPTIONS);
  const { personality, approve, limits, toolLimits, imageScaler: given, ...rest } = options;
  const imageScaler = await imageScalerOf(given);
  const runtime = await openToolRuntime(
    {
      ...rest,
      personality,
      imageScaler: imageScaler ?? false,
      ...(toolLimits !== undefined && { limits: toolLimits }),
    },
    cwd,
  );
  let loop: AgentLoop;
  try {
    loop = new AgentLoop({
      ...loopOptions(options),
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

function loopOptions(options: AgentOptions): Pick<AgentOptions, keyof typeof LOOP_OPTIONS> {
  return Object(
    Object.fromEntries(Object.entries(options).filter(([name]) => name in LOOP_OPTIONS)),
  );
}
