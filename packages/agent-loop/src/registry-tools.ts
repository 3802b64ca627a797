import type { DefaultToolRegistry } from '@ethosagent/core';
import { expandToolset, SessionReads, toolFilters } from '@ethosagent/policy';
import { EthosError, type PersonalityConfig, type Storage } from '@ethosagent/types';
import type { AgentBatchOptions, AgentTools } from './api.js';

export interface RegistryToolsOptions {
  /** Where tools anchor relative paths. Absolute. */
  workingDir: string;
  /** The turn's storage, held to what the personality reaches. */
  storage?: Storage;
  /** Group labels and names in `toolset` are looked up in the registry when absent. */
  toolNames?: readonly string[];
}

/**
 * The tools of a registry under one personality, for hosts that put everything together themselves.
 *
 * @param registry with the tools
 * @param personality under which all calls run
 * @param options the working directory, the storage, and the tools; those of the personality when
 * absent
 * @returns the tools, for an `AgentLoop`
 * @throws `CONFIG_INVALID` when the methods are asked for another personality
 */
export function registryTools(
  registry: DefaultToolRegistry,
  personality: PersonalityConfig,
  { workingDir, storage, toolNames }: RegistryToolsOptions,
): AgentTools {
  const reads = new SessionReads();
  const config = (id: string | undefined): PersonalityConfig => {
    if (id === undefined || id === personality.id) return personality;
    throw new EthosError('CONFIG_INVALID', `there is no personality ${id}`);
  };
  const allowed = () => toolNames ?? expandToolset(personality.toolset, registry.list()).names;

  return {
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
