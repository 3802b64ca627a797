import type { Sandbox } from '@ethosagent/process';
import type { LookupFunction } from '@ethosagent/safety-network';
import type {
  AttachmentStore,
  AuditSink,
  KeyValueStore,
  MemoryProvider,
  NetworkPolicy,
  PersonalityConfig,
  ProcessPolicy,
  QuotaPolicy,
  SecretRef,
  SessionStore,
  Storage,
} from '@ethosagent/types';
import type { ApprovalDecision, ApprovalRequest } from './approval.js';

/** The paths that a personality may read and write. */
export interface PersonalityFsReach {
  read: string[];
  write: string[];
  /** Paths that this personality does not reach, whatever the other two say. */
  deny?: string[];
  /** Where its paths lead, by path, as it was looked up when it was loaded. Looked up when first used, where absent. */
  leads?: Readonly<Record<string, string>>;
}

/**
 * What an operator says of one personality, as its file does. `safety.network` counts beside the
 * `networkPolicy` of the turn: allow lists meet, deny lists join, and the consent to private addresses
 * comes from the turn.
 */
export interface PersonalityPolicy extends Pick<PersonalityConfig, 'safety' | 'tool_settings'> {
  fs_reach?: Partial<PersonalityFsReach>;
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

/** What stands behind the accessors of a registry. A missing backend makes its accessor absent. */
export interface CapabilityBackends {
  /** The store of a namespace. Called once per call of a tool that declares `storage`. */
  kvStoreFactory?: (tool: string, scopeId: string) => KeyValueStore;
  /** Resolves a declared secret ref to its value. */
  secretsBackend?: (ref: SecretRef) => Promise<string>;
  storage?: Storage;
  attachments?: AttachmentStore;
  /**
   * What the operator says of a personality. Asked once for a call, and again when the call has
   * waited. `undefined` (unknown personality): nothing may be reached or used up. Each of the
   * callbacks below says one part of it instead.
   */
  personality?: (personalityId: string | undefined) => PersonalityPolicy | undefined;
  /**
   * The reach of the active personality, or a function of its id that is asked for every
   * execution; `undefined` from it means that nothing is reachable.
   */
  personalityFsReach?:
    | PersonalityFsReach
    | ((personalityId: string | undefined) => PersonalityFsReach | undefined);
  /**
   * The allow list of the active personality, or a function of its id that is asked for every
   * execution. From the function, `undefined` (unknown personality) allows nothing and `null`
   * says that the personality has no list, which leaves specific hosts as declared.
   */
  personalityNetworkAllow?:
    | string[]
    | ((personalityId: string | undefined) => string[] | null | undefined);
  /**
   * The network policy of the active personality, or a function of its id, for services that no
   * call opens: what the `networkPolicy` of a turn is for calls.
   */
  personalityNetworkPolicy?:
    | NetworkPolicy
    | ((personalityId: string | undefined) => NetworkPolicy | undefined);
  /** How processes run, of the active personality or by its id. Plain processes when absent. */
  personalityProcess?:
    | ProcessPolicy
    | ((personalityId: string | undefined) => ProcessPolicy | undefined);
  /** Caps on what calls and sessions use up. None when absent. */
  personalityQuotas?:
    | QuotaPolicy
    | ((personalityId: string | undefined) => QuotaPolicy | undefined);
  /**
   * Where what sessions used up stands, for all processes that share it: what `per_session` caps,
   * each call looks up before it runs, and adds to when it has ended. Each process counts alone
   * where this is absent, or has no `increment`.
   */
  sessionQuotas?: KeyValueStore;
  /**
   * What a personality sets for a tool, as its file says it, by the tool's `settingsKey`; the
   * tool's schema parses it. `undefined` for nothing, which is parsed as `{}`. What is frozen all
   * the way down is parsed once.
   */
  personalityToolSettings?: (personalityId: string | undefined, key: string) => unknown;
  /** Where memories are kept. */
  memory?: MemoryProvider;
  /** Where the messages of sessions are kept. */
  sessions?: SessionStore;
  /**
   * Instead of the global `fetch`; it gets the same arguments, once every address of the host was
   * judged. A name that can't be resolved is refused, so a stub comes with a `lookup`.
   */
  fetch?: typeof globalThis.fetch;
  /** Instead of the system's name resolution. */
  lookup?: LookupFunction;
  /** The base environment of child processes. `process.env` when absent. */
  processEnv?: Readonly<Record<string, string | undefined>>;
  /** What sandboxes child processes where a policy asks for it. Bubblewrap when absent. */
  sandbox?: Sandbox;
  /** Paths that no tool reaches, beside the built-in deny floor. Absolute. */
  denyPaths?: readonly string[];
  /** Decides on calls of tools that require approval. Without it they are refused. */
  approve?: (request: ApprovalRequest) => ApprovalDecision | Promise<ApprovalDecision>;
  /** Gets one event for every access, allowed or denied. */
  audit?: AuditSink;
}
