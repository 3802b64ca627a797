/** What the operator allows on the network. */
export interface NetworkPolicy {
  allow?: string[];
  /** Beats `allow`. */
  deny?: string[];
  /** Lets in private, loopback and link-local addresses too, but never a metadata address. */
  allow_private_urls?: boolean;
  /**
   * A tool's `*` gives it no host, as without an allow list. No file says this: it is the result
   * when a personality with an allow list meets one without.
   */
  declared_only?: boolean;
}

/** What an operator lets the tools of one personality reach. */
export interface PersonalityConfig {
  id: string;
  name: string;
  description?: string;
  /** What the model is told about itself. */
  instructions?: string;
  /** Names of tools, or group labels. Every built-in tool when absent. */
  toolset?: string[];
  fs_reach?: { read?: string[]; write?: string[] };
  safety?: {
    network?: NetworkPolicy;
    secrets?: SecretSources;
    process?: ProcessPolicy;
    quotas?: QuotaPolicy;
    untrusted?: UntrustedPolicy;
    approvals?: ApprovalPolicy;
  };
  /** Settings of single tools, by the tools' names. Each tool says which settings it knows. */
  tool_settings?: Record<string, Record<string, unknown>>;
  /** MCP servers whose tools the personality has. */
  mcp_servers?: string[];
  /** Plugins whose tools the personality has. */
  plugins?: string[];
  /**
   * Tools that the personality does not have, whatever the rest says: the key of the tool's
   * settings, and the reason. No file says this: it is the result when two personalities meet that
   * set a tool differently.
   */
  withheld?: Record<string, string>;
}

/**
 * Which secret a tool gets when it declares a ref. The value is another ref, or `false` for no
 * secret. A ref that is not a key here stands for itself.
 */
export type SecretSources = Record<string, string | false>;

/** What happens to a call of a tool: it waits for approval, it runs, or it is refused. */
export type UntrustedDecision = 'ask' | 'allow' | 'deny';

/**
 * What an agent may do in a turn after it has read untrusted content. Each part is `ask` when
 * absent: the call waits for approval.
 */
export interface UntrustedPolicy {
  write?: UntrustedDecision;
  send?: UntrustedDecision;
  spawn?: UntrustedDecision;
  /**
   * What does not count as untrusted here. A tool or a group label stands for results. A source is
   * `https://docs.example.com/*`, an absolute path, or a path with `/**` at its end; a result is
   * judged by its sources where the framework saw all that its call read. Trusted results are
   * marked all the same.
   */
  trust?: string[];
}

/** For which calls an approval holds that is meant for more than one call. */
export type GrantScope =
  /** Calls of the tool, in the session. */
  | 'session'
  /** Calls of the tool with exactly these arguments, in every session of the same owner. */
  | 'arguments'
  /** Calls of the tool, in every session of the same owner. */
  | 'tool';

/** What the person who approves calls may say. */
export interface ApprovalPolicy {
  /**
   * The grants that may be given, and that count. All of them when absent; no grants when empty.
   */
  grants?: GrantScope[];
  /** Whether grants also answer for sub-agents under this personality. `none` when absent. */
  sub_agents?: 'inherit' | 'none';
}

/** How the processes of a personality's tools run. */
export interface ProcessPolicy {
  /**
   * `'required'` or `true`: in a sandbox, or not at all. `'preferred'`: in a sandbox where this
   * machine has one. Absent or `false`: as a plain process.
   */
  sandbox?: boolean | 'required' | 'preferred';
  /** Resource limits of a sandboxed process. */
  limits?: ProcessLimits;
  /**
   * Which arguments a binary may get, by the name that the tool declared. Any arguments when
   * absent.
   */
  arguments?: Record<string, ArgumentPolicy>;
}

/** Resource limits of a sandboxed process and of each of its children. */
export interface ProcessLimits {
  /** MiB of address space. */
  memory_mb?: number;
  /** Processes and threads at once. */
  processes?: number;
  /** Seconds of processor time. */
  cpu_seconds?: number;
  /** MiB that a file may grow to. */
  file_size_mb?: number;
  /** Files open at once. */
  open_files?: number;
}

/** Which arguments a binary may get. `*` in a pattern stands for any characters. */
export interface ArgumentPolicy {
  /** Every argument must match one. Any argument when absent. */
  allow?: string[];
  /**
   * No argument may match one. An option without `*` also stands for its spellings: `-c` for
   * `-cx` and `-pc`, `--exec` for `--exec=x` and its abbreviations.
   */
  deny?: string[];
  /**
   * Further lists: every argument must match an entry of each list. They come from two
   * personalities that meet, each with an `allow`.
   */
  allow_each?: string[][];
}

/** Caps on what the tools of a personality use up. Over a cap is `QUOTA_EXCEEDED`. */
export interface QuotaPolicy {
  per_call?: QuotaLimits;
  per_session?: QuotaLimits;
}

/** The caps of one call, or of all calls of one session. */
export interface QuotaLimits {
  /** Requests, each redirect counted. */
  requests?: number;
  /** Bytes of response bodies, after decoding. */
  bytes_in?: number;
  /** Bytes of URLs, headers and bodies of requests. */
  bytes_out?: number;
  /** Seconds that processes run, summed up. */
  process_seconds?: number;
  /** Changes of files and folders: each write, append, mkdir, rename or remove. */
  files_written?: number;
  /** Bytes of the keys and values that were written to key-value stores and are still there. */
  store_bytes?: number;
}

/** The name of a quota. */
export type QuotaName = keyof QuotaLimits;
