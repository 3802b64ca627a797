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
    /** Hosts that are denied even if `allowedHosts` covers them. */
    deny?: readonly string[];
    /** Whether private and loopback addresses are allowed too. */
    allow_private_urls?: boolean;
    /** Machines that the operator names. They may be reached even if their address is private. */
    privateHosts?: readonly string[];
    /** Ports of services other than HTTP that the operator names, with their hosts. */
    servicePorts?: readonly string[];
  };
  /** The secrets. Bound ones come with the hosts to which they may be sent. */
  secrets?: readonly SecretDeclaration[];
  /** The refs for which the personality names another secret, or none. */
  secretSources?: Readonly<SecretSources>;
  storage?: { scope: StorageScope };
  fs_reach?: {
    read: readonly string[];
    write: readonly string[];
    /** Denied paths within them, besides the deny floor. */
    deny?: readonly string[];
    /** Where roots that are links lead, by root. */
    leads?: Readonly<Record<string, string>>;
    /** Folders within `write` that can't be moved or removed, since the personality names them. */
    stays?: readonly string[];
  };
  process?: {
    allowedBinaries: readonly string[];
    /**
     * Whether processes run in a sandbox. If absent, they run without one, and reach what the
     * host's user may reach.
     */
    sandbox?: 'required' | 'preferred';
    /** Limits of a sandboxed process that the operator set. */
    limits?: ProcessLimits;
    /** The arguments that a program may get, by its name. */
    arguments?: Readonly<Record<string, ArgumentPolicy>>;
    background?: boolean;
  };
  attachments?: { mediaTypes: readonly string[] };
  memory?: { access: 'read' | 'read-write'; scopes: readonly string[] };
  /** The sessions of an owner, besides the call's own; `null` for no others. */
  sessions?: { access: 'read'; owner: SessionOwner | null };
  /** The service outlives the call, and has the reach of the call. */
  service?: { scope: 'session' };
  /** Sub-agents never reach more than the call's own agent. */
  delegation?: { background: boolean };
  /** The names of the tools that it may call, as far as the personality has them. */
  calls?: { tools: readonly string[] };
  /** Caps on what the call, and its session, use up. */
  quotas?: QuotaPolicy;
}
