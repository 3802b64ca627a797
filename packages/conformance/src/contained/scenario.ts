import type { ScenarioName } from './options.js';
import type { Probe } from './probe.js';

/** A way in which the world of a tool turns on it. */
export interface Scenario {
  name: ScenarioName;
  /** Whether it means anything for this tool. */
  applies(probe: Probe): boolean;
  /** Runs in a world that was laid out afresh; what it left behind is looked for afterwards. */
  run(probe: Probe): Promise<void>;
}

/** Whether a tool has to do with the network: by its declaration or by its arguments. */
export function hasNetwork({ tool, world }: Probe): boolean {
  return tool.capabilities.network !== undefined || mentions(world.calls, world.url('/'));
}

/** Whether a tool has to do with files: by its declaration or by its arguments. */
export function hasFiles({ tool, world }: Probe): boolean {
  return tool.capabilities.fs_reach !== undefined || mentions(world.calls, world.root);
}

export function hasProcesses({ tool }: Probe): boolean {
  return tool.capabilities.process !== undefined;
}

export function hasMemory({ tool }: Probe): boolean {
  return tool.capabilities.memory !== undefined || tool.capabilities.sessions !== undefined;
}

/** Whether a text is in the arguments. */
export function mentions(args: unknown, text: string): boolean {
  return JSON.stringify(args)?.includes(text) === true;
}
