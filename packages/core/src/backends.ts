import {
  assertOptions,
  isFunction,
  isListOf,
  isObject,
  isString,
  type OptionValues,
  wrongOption,
} from '@ethosagent/policy';
import type { Sandbox } from '@ethosagent/process';
import type { LookupFunction } from '@ethosagent/safety-network';
import {
  type AttachmentStore,
  type AuditSink,
  EthosError,
  type KeyValueStore,
  type MemoryProvider,
  type NetworkPolicy,
  type PersonalityConfig,
  type ProcessPolicy,
  type QuotaPolicy,
  type SecretRef,
  type SessionStore,
  type Storage,
} from '@ethosagent/types';
import type { ApprovalDecision, ApprovalRequest } from './approval.js';

/** The paths that a personality may read and write. */
export interface PersonalityFsReach {
  read: string[];
  write: string[];
  /** Paths that this personality does not reach, even if `read` or `write` contain them. */
  deny?: string[];
  /** Where its paths led when it was loaded, by path. If absent, looked up at the first use. */
  leads?: Readonly<Record<string, string>>;
}

/**
 * What an operator says of one personality, as its file does. `safety.network` counts beside the
 * `networkPolicy` of the turn: allow lists meet, deny lists join, and the consent to private addresses
 * comes from the turn.
 */
export interface PersonalityPolicy extends Pick<PersonalityConfig, 'safety' | 'tool_settings'> {
  fs_reach?: Partial<PersonalityFsReach>;
  /**
   * Whether the personality has a tool now. Asked again of a call that waited. All tools if absent.
   */
  offers?: (toolName: string) => boolean;
  /** Where its parts stand in files, for the audit. */
  places?: PolicyPlaces;
}

/**
 * The lines of files on which a part of a policy stands, as `personalities/coder/config.yaml:12`.
 * Worked out when the policy is loaded: it is asked for every access.
 *
 * @param part as `safety.network.allow` or `fs_reach.read`; `toolset` or `mcp_servers` for what gives
 * a tool
 * @param entry of a list, as the policy has it; the name of a tool, or its server; absent for the part
 * itself
 * @returns none where no file says it
 */
export type PolicyPlaces = (part: string, entry?: string) => readonly string[];

/** The backends of a registry's accessors. Without its backend, an accessor is absent. */
export interface CapabilityBackends {
  /** The store of a namespace. Called once per call of a tool that declares `storage`. */
  kvStoreFactory?: (tool: string, scopeId: string) => KeyValueStore;
  /** Resolves a declared secret ref to its value. */
  secretsBackend?: (ref: SecretRef) => Promise<string>;
  storage?: Storage;
  attachments?: AttachmentStore;
  /**
   * What the operator says about a personality. Called once for a call, and again when the call has
   * waited. `undefined` (unknown personality) allows nothing. Each of the callbacks below replaces
   * one part of it.
   */
  personality?: (personalityId: string | undefined) => PersonalityPolicy | undefined;
  /**
   * The reach of the active personality, or a function of its id that is called for every
   * execution. If the function returns `undefined`, nothing is reachable.
   */
  personalityFsReach?:
    | PersonalityFsReach
    | ((personalityId: string | undefined) => PersonalityFsReach | undefined);
  /**
   * The allow list of the active personality, or a function of its id that is called for every
   * execution. If the function returns `undefined` (unknown personality), nothing is allowed. If it
   * returns `null`, the personality has no list, and specific hosts are allowed as declared.
   */
  personalityNetworkAllow?:
    | string[]
    | ((personalityId: string | undefined) => string[] | null | undefined);
  /**
   * The network policy of the active personality, or a function of its id, for services that no
   * call opened. For calls, `networkPolicy` of the turn has this role.
   */
  personalityNetworkPolicy?:
    | NetworkPolicy
    | ((personalityId: string | undefined) => NetworkPolicy | undefined);
  /** How processes run, for the active personality or by its id. Without restrictions if absent. */
  personalityProcess?:
    | ProcessPolicy
    | ((personalityId: string | undefined) => ProcessPolicy | undefined);
  /** Caps on what calls and sessions use up. None if absent. */
  personalityQuotas?:
    | QuotaPolicy
    | ((personalityId: string | undefined) => QuotaPolicy | undefined);
  /**
   * The store of what sessions used up, for all processes that share it. If `per_session` caps
   * something, each call reads it before it runs, and adds to it when it has ended. If this is
   * absent, or has no `increment`, each process counts alone.
   */
  sessionQuotas?: KeyValueStore;
  /**
   * What a personality sets for a tool, as its file says it, by the tool's `settingsKey`. The
   * tool's schema parses it. `undefined` for no settings, which are parsed as `{}`. A deeply frozen
   * value is parsed only once.
   */
  personalityToolSettings?: (personalityId: string | undefined, key: string) => unknown;
  /** Where memories are kept. */
  memory?: MemoryProvider;
  /** Where the messages of sessions are kept. */
  sessions?: SessionStore;
  /**
   * Replaces the global `fetch`. It gets the same arguments, after every address of the host was
   * checked. A name that can't be resolved is refused, so a stub needs a `lookup` too. This one
   * and `lookup` are read when a tool is first given hosts, and not again.
   */
  fetch?: typeof globalThis.fetch;
  /** Replaces the system's name resolution. */
  lookup?: LookupFunction;
  /** The base environment of child processes. `process.env` if absent. */
  processEnv?: Readonly<Record<string, string | undefined>>;
  /** The sandbox for child processes, when a policy asks for one. Bubblewrap if absent. */
  sandbox?: Sandbox;
  /** Absolute paths that no tool reaches, in addition to the built-in deny floor. */
  denyPaths?: readonly string[];
  /** Decides on calls of tools that require approval. Without it they are refused. */
  approve?: (request: ApprovalRequest) => ApprovalDecision | Promise<ApprovalDecision>;
  /** Gets one event for every access, allowed or denied. */
  audit?: AuditSink;
}

const FUNCTION = [isFunction, 'a function'] as const;
const OBJECT = [isObject, 'an object'] as const;
const EITHER = [
  (value: unknown) => isObject(value) || isFunction(value),
  'an object, or a function that answers with one',
] as const;

/** What the backends are. What their functions answer is checked when they are asked. */
const BACKENDS: Required<OptionValues<CapabilityBackends>> = {
  kvStoreFactory: FUNCTION,
  secretsBackend: FUNCTION,
  storage: OBJECT,
  attachments: OBJECT,
  personality: FUNCTION,
  personalityFsReach: EITHER,
  personalityNetworkAllow: [
    (value) => isListOf(isString)(value) || isFunction(value),
    'a list of hosts, or a function that answers with one',
  ],
  personalityNetworkPolicy: EITHER,
  personalityProcess: EITHER,
  personalityQuotas: EITHER,
  sessionQuotas: OBJECT,
  personalityToolSettings: FUNCTION,
  memory: OBJECT,
  sessions: OBJECT,
  fetch: FUNCTION,
  lookup: FUNCTION,
  processEnv: OBJECT,
  sandbox: OBJECT,
  denyPaths: [isListOf(isString), 'a list of paths'],
  approve: FUNCTION,
  audit: [(sink) => isFunction(Object(sink).record), 'an object with the function record'],
};

/**
 * Refuses backends that there are not, and those of another kind.
 *
 * @param backends of a registry
 * @throws `CONFIG_INVALID` for the first one that does not fit
 */
export function assertBackends(backends: CapabilityBackends): void {
  const of = 'backends of DefaultToolRegistry';
  assertOptions(of, backends, BACKENDS);
  const problem = wrongOption(backends, BACKENDS);
  if (problem !== undefined) throw new EthosError('CONFIG_INVALID', `${of}: ${problem}`);
}
