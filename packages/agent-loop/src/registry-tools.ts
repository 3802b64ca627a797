import { isAbsolute } from 'node:path';
import type { DefaultToolRegistry } from '@ethosagent/core';
import {
  assertOptions,
  expandToolset,
  isObject,
  isString,
  type OptionNames,
  SessionReads,
  toolFilters,
} from '@ethosagent/policy';
import { EthosError, type PersonalityConfig, type Storage } from '@ethosagent/types';
import type { AgentBatchOptions, AgentTools } from './api.js';

export interface RegistryToolsOptions {
  /** The folder from which tools resolve relative paths. An absolute path. */
  workingDir: string;
  /** The storage of the turn, limited to what the personality may reach. */
  storage?: Storage;
  /**
   * The names of the tools. When absent, the tools that `toolset` of the personality names, by name
   * or group label.
   */
  toolNames?: readonly string[];
}

const OPTIONS: OptionNames<RegistryToolsOptions> = {
  workingDir: [(value) => isString(value) && isAbsolute(value), 'an absolute path'],
  storage: true,
  toolNames: [
    (value) => Array.isArray(value) && value.every(isString),
    'a list of names of tools; or leave it out',
  ],
};

/**
 * Returns the tools of a registry under one personality, for hosts that build the parts themselves.
 *
 * @param registry the registry with the tools
 * @param personality the personality of all calls
 * @param options the working directory, the storage, and the names of the tools
 * @returns the tools, for an `AgentLoop`; its methods reject with `CONFIG_INVALID` for another
 * personality
 * @throws `CONFIG_INVALID` for an invalid option
 */
export function registryTools(
  registry: DefaultToolRegistry,
  personality: PersonalityConfig,
  options: RegistryToolsOptions,
): AgentTools {
  assertOptions('registryTools', options, OPTIONS);
  if (!isObject(registry) || !isObject(personality) || options.workingDir === undefined) {
    throw new EthosError(
      'CONFIG_INVALID',
      'registryTools: give a registry, a personality, and options with workingDir',
    );
  }
  const { workingDir, storage, toolNames } = options;
  const reads = new SessionReads();
  const config = (id: string | undefined): PersonalityConfig => {
    if (id === undefined || id === personality.id) return personality;
    throw new EthosError('CONFIG_INVALID', `there is no personality ${id}`);
  };
  const allowed = () => toolNames ?? expandToolset(personality.toolset, registry.list()).names;

  return {
    personalityId: personality.id,
    async personality(id) {
      return config(id);
    },
    async definitions(id) {
      config(id);
      return registry.toDefinitions(allowed(), toolFilters(personality));
    },
    tool(name) {
      return registry.get(name);
    },
    execute(calls, options) {
      const { tools, attachments, host, personality: id, ...facts } = options;
      config(id);
      return registry.executeParallel(
        calls,
        { ...contextOf(facts), ...base() },
        narrowed(registry, allowed(), tools),
        toolFilters(personality),
        attachments,
        host,
      );

      function base() {
        return {
          workingDir,
          // The host of the turn receives progress.
          emit: () => {},
          personalityId: personality.id,
          readMtimes: reads.of(options.sessionId),
          ...(storage !== undefined && { storage }),
          ...(personality.safety?.network !== undefined && {
            networkPolicy: personality.safety.network,
          }),
        };
      }
    },
  };
}

function contextOf(
  facts: Omit<AgentBatchOptions, 'tools' | 'attachments' | 'host' | 'personality'>,
) {
  const { sessionKey = facts.sessionId, platform = 'api', ...rest } = facts;
  return { sessionKey, platform, ...rest };
}

/**
 * The names that are in both lists. A name that is only in `tools` is dropped, even if the filters
 * would allow it.
 */
function narrowed(
  registry: DefaultToolRegistry,
  allowed: readonly string[] | undefined,
  tools: readonly string[] | undefined,
): readonly string[] | undefined {
  if (tools === undefined) return allowed;
  return (allowed ?? registry.list().map(({ name }) => name)).filter((name) =>
    tools.includes(name),
  );
}
