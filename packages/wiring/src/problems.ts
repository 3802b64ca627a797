import { validateRegistration } from '@ethosagent/core';
import type { AnyTool, CapabilityName, PersonalityConfig } from '@ethosagent/types';
import { expandToolset } from './toolset.js';

/** One way in which the tools and a personality don't fit together. */
export interface RuntimeProblem {
  /** The personality's file. */
  file: string;
  /** The key in it, e.g. `fs_reach.read`. */
  key: string;
  tool: string;
  message: string;
  /** Calls of the tool are refused. Otherwise it runs, with less than it declared. */
  heldBack: boolean;
}

const KEYS: Partial<Record<CapabilityName, string>> = {
  network: 'safety.network.allow',
  'fs_reach.read': 'fs_reach.read',
  'fs_reach.write': 'fs_reach.write',
};

/**
 * What an operator should know of a personality: tools that declare more than it allows, and
 * toolset entries that name nothing. A tool that knows its exact paths and doesn't have them is
 * held back; one whose hosts are not all allowed works with those that are.
 */
export function findProblems(
  personality: PersonalityConfig,
  file: string,
  tools: readonly AnyTool[],
): RuntimeProblem[] {
  const { names, unknown } = expandToolset(personality.toolset, tools);
  const offered = names === undefined ? tools : tools.filter(({ name }) => names.includes(name));
  return [
    ...unknown.map((entry) => ({
      file,
      key: 'toolset',
      tool: entry,
      message: `${file}: toolset: ${entry} is neither a registered tool nor a group of tools`,
      heldBack: false,
    })),
    ...offered
      .flatMap((tool) => validateRegistration(tool, personality))
      .map(({ tool, capability, message }) => {
        const key = KEYS[capability] ?? capability;
        return {
          file,
          key,
          tool,
          message: `${file}: ${key}: ${tool} declares more than this personality allows: ${message}`,
          heldBack: key !== 'safety.network.allow',
        };
      }),
  ];
}
