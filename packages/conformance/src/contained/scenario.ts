import type { ScenarioName } from './options.js';
import type { Probe } from './probe.js';

/** One way in which the world of a tool becomes hostile. */
export interface Scenario {
  name: ScenarioName;
  /** Whether it applies to this tool. */
  applies(probe: Probe): boolean;
  /** Runs in a fresh world. What it leaves behind is checked afterwards. */
  run(probe: Probe): Promise<void>;
}

/** Whether a tool uses the network, according to its declaration or its arguments. */
export function hasNetwork({ tool, world }: Probe): boolean {
  return tool.capabilities.network !== undefined || mentions(world.calls, world.url('/'));
}

/** Whether a tool uses files, according to its declaration or its arguments. */
export function hasFiles({ tool, world }: Probe): boolean {
  return tool.capabilities.fs_reach !== undefined || mentions(world.calls, world.root);
}

export function hasProcesses({ tool }: Probe): boolean {
  return tool.capabilities.process !== undefined;
}

export function hasMemory({ tool }: Probe): boolean {
  return tool.capabilities.memory !== undefined || tool.capabilities.sessions !== undefined;
}

/** Whether the arguments contain a text. */
export function mentions(args: unknown, text: string): boolean {
  return JSON.stringify(args)?.includes(text) === true;
}
