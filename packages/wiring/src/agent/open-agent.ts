import { AgentLoop } from '@ethosagent/agent-loop';
import { imageScalerOf } from '../installed-scaler.js';
import { openToolRuntime } from '../open-tool-runtime.js';
import type { Agent, AgentOptions } from './agent-api.js';
import { LOOP_OPTIONS } from './known-agent-options.js';

/**
 * Creates an agent. This module loads the loop and the engine, so it is loaded for the first agent.
 *
 * @param options a copy, which the host does not change
 */
export async function openAgent(options: AgentOptions & { cwd: string }): Promise<Agent> {
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
