import type {
  ArgumentPolicy,
  ProcessLimits,
  QuotaPolicy,
  SecretDeclaration,
  SecretSources,
  SessionOwner,
  StorageScope,
} from '@ethosagent/types';

/** What a call may reach, as data: the declaration met with the policy. */
export interface ResolvedGrant {
  network?: {
    allowedHosts: readonly string[];
    /** Hosts that are refused all the same. */
    deny?: readonly string[];
    /** Private and loopback addresses too. */
    allow_private_urls?: boolean;
    /** Machines that the operator names: they are reached although their address is private. */
    privateHosts?: readonly string[];
    /** Ports of other services than HTTP that the operator names, with their hosts. */
    servicePorts?: readonly string[];
  };
  /** Those that are bound to hosts with the hosts that they may be sent to. */
  secrets?: readonly SecretDeclaration[];
  /** The refs of them behind which the personality puts another secret, or none. */
  secretSources?: Readonly<SecretSources>;
  storage?: { scope: StorageScope };
  fs_reach?: {
    read: readonly string[];
    write: readonly string[];
    /** What is refused within them, beside the deny floor. */
    deny?: readonly string[];
    /** Where roots lead that are links, by root. */
    leads?: Readonly<Record<string, string>>;
    /** Folders within `write` that can't be moved or removed, since the personality names them. */
    stays?: readonly string[];
  };
  process?: {
    allowedBinaries: readonly string[];
    /**
     * Whether processes run in a sandbox. Absent: plain processes, which reach whatever the user of
     * the host may.
     */
    sandbox?: 'required' | 'preferred';
    /** Limits of a sandboxed process that the operator set. */
    limits?: ProcessLimits;
    /** What a program may be told, by its name. */
    arguments?: Readonly<Record<string, ArgumentPolicy>>;
    background?: boolean;
  };
  attachments?: { mediaTypes: readonly string[] };
  /** The ids of the memories. */
  memory?: { access: 'read' | 'read-write'; scopes: readonly string[] };
  /** The sessions of an owner, beside the call's own; `null` for none beside it. */
  sessions?: { access: 'read'; owner: SessionOwner | null };
  /** What is kept open beyond the call, with the reach of the call. */
  service?: { scope: 'session' };
  /** Sub-agents, which reach no more than the call's own agent. */
  delegation?: { background: boolean };
  /** The names of the tools that it may call, where the personality has them. */
  calls?: { tools: readonly string[] };
  /** Caps on what the call, and its session, use up. */
  quotas?: QuotaPolicy;
}
