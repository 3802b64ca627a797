import {
  type AskHost,
  answerOfHost,
  type CapabilityBackends,
  type PersonalityPolicy,
} from '@ethosagent/core';
import type { AuditSink, PersonalityConfig } from '@ethosagent/types';
import { hostEnvironment } from './host-environment.js';
import type { PersonalityConfigs } from './personality-configs.js';
import type { PersonalityReach } from './personality-reach.js';
import { baseEnvironment } from './process-env.js';
import type { ToolRuntimeOptions } from './runtime-api.js';
import type { StoresByName } from './stores/runtime-stores.js';

/** The parts of a runtime that its backends use. */
export interface RuntimeBackendsParts {
  readonly options: ToolRuntimeOptions;
  readonly stores: StoresByName;
  readonly personalities: PersonalityConfigs;
  readonly audit: AuditSink;
  readonly denyPaths: readonly string[];
  /** Whether a personality may reach anything, as its file is now. */
  readonly admits: (config: PersonalityConfig) => boolean;
  /** Whether a personality has a tool. */
  readonly offers: (config: PersonalityConfig, tool: string) => boolean;
}

/** Combines the stores, the host's hooks, and what the personality of a call allows. */
export function createBackends({
  options,
  stores,
  personalities,
  audit,
  denyPaths,
  admits,
  offers,
}: RuntimeBackendsParts): CapabilityBackends {
  const { approve, fetch, lookup, sandbox } = options;
  // Each config has a reach of its own, which is the same object as long as it holds.
  const policies = new WeakMap<PersonalityReach, PersonalityPolicy>();
  return {
    kvStoreFactory: stores.keyValue,
    secretsBackend: (ref) => stores.secrets.get(ref),
    storage: stores.storage,
    attachments: stores.attachments,
    memory: stores.memory,
    sessions: stores.sessions,
    personality: (id) => {
      const config = personalities.at(id);
      if (config === undefined || !admits(config)) return undefined;
      const reach = personalities.reachOf(config);
      let policy = policies.get(reach);
      if (policy === undefined) {
        const { problems: _, isProvisional: __, ...fs_reach } = reach;
        policy = {
          ...config,
          fs_reach,
          places: personalities.placesOf(config),
          offers: (tool) => offers(config, tool),
        };
        policies.set(reach, policy);
      }
      return policy;
    },
    processEnv: baseEnvironment(options.env ?? hostEnvironment(), options.passEnv),
    denyPaths,
    audit,
    // Only one process uses the store of a home at a time. Several machines may share a store of
    // the host.
    ...(options.stores?.keyValue !== undefined && {
      sessionQuotas: stores.keyValue('quotas', 'quotas:sessions'),
    }),
    ...(approve !== undefined && { approve: atOnce(approve) }),
    ...(fetch !== undefined && { fetch }),
    ...(lookup !== undefined && { lookup }),
    ...(sandbox !== undefined && { sandbox }),
  };
}

/** Outside a session nothing can wait for a decision. */
function atOnce(approve: AskHost): NonNullable<CapabilityBackends['approve']> {
  return async (request) => {
    const said = await answerOfHost(approve, request);
    return said === 'later' ? { approved: false, reason: 'only a session can wait' } : said;
  };
}
