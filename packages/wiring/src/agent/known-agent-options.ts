import type { OptionNames } from '@ethosagent/policy';
import { RUNTIME_OPTIONS } from '../known-options.js';
import type { ToolRuntimeOptions } from '../runtime-api.js';
import type { AgentOptions } from './agent-api.js';

/** The options that go to the loop as they are. */
export const LOOP_OPTIONS: OptionNames<
  Omit<AgentOptions, keyof ToolRuntimeOptions | 'toolLimits'>
> = {
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

/** The options of `createAgent`. */
export const AGENT_OPTIONS: OptionNames<AgentOptions> = {
  ...RUNTIME_OPTIONS,
  ...LOOP_OPTIONS,
  toolLimits: true,
};
