import type { ReachKind } from './errors.js';
import type { ProcessLimits } from './personality.js';
import type { StorageEntry } from './storage.js';

/** An opaque name of a secret in the secrets backend, e.g. `providers/openweather/apiKey`. */
export type SecretRef = string;

/** A declared ref. With `hosts` it also says where the handle may be sent. */
export type SecretDeclaration = SecretRef | BoundSecret;

/** A secret whose handle is replaced by its value in requests to these hosts, and no others. */
export interface BoundSecret {
  /** An exact ref, or a prefix ending in `/*`. */
  ref: SecretRef;
  /** Exact hosts or `*.suffix`. */
  hosts: string[];
}

/** Every namespace that a tool's key-value store can be in. */
export const STORAGE_SCOPES = ['tool-private', 'session', 'personality'] as const;

/** Whose namespace the key-value store of a tool is. */
export type StorageScope = (typeof STORAGE_SCOPES)[number];

/** What a tool may reach outside itself. What is not declared is absent from its context. */
export interface ToolCapabilities {
  network?: {
    /** Exact hosts, `*.suffix`, or `*` for whatever the personality allows. */
    allowedHosts: string[];
  };
  /** Exact refs, or a prefix ending in `/*` for every deeper ref; each may be bound to hosts. */
  secrets?: SecretDeclaration[];
  storage?: {
    scope: StorageScope;
    kind: 'kv';
    /** Seconds after which an entry expires unless `set` says otherwise. */
    ttlSecondsDefault?: number;
    /**
     * `'serial'` (default): from its first use of the store to its end, a call has the namespace
     * to itself within this process, so that read-then-write is correct when calls run in
     * parallel. `'parallel'`: calls do not wait for each other; use `increment` or `compareAndSet`.
     */
    concurrency?: 'serial' | 'parallel';
  };
  /** Absolute paths, or what the personality lists. */
  fs_reach?: {
    read?: string[] | 'from-personality';
    write?: string[] | 'from-personality';
  };
  process?: {
    /** Bare names, found on the `PATH` of the host's base environment, absolute paths, or `*`. */
    allowedBinaries: string[];
    /** Processes of this tool run in a sandbox or not at all, whatever the personality says. */
    sandbox?: 'required';
    /** The tool may leave processes running. They end with the session at the latest. */
    background?: boolean;
  };
  /** Memory that outlives a session. */
  memory?: { access: 'read' | 'read-write' };
  /** The messages of earlier sessions. */
  sessions?: { access: 'read' };
  /** Things that the tool keeps open after a call. They end with the session. */
  service?: { scope: 'session' };
  /** Work for sub-agents. They reach no more than the caller. */
  delegation?: { background?: boolean };
  /**
   * Calls of other tools: the named ones, or those that the operator names in the setting `tools`
   * of this tool in the personality.
   */
  calls?: { tools: string[] | 'from-settings' };
  /** The files that came with the turn. */
  attachments?: {
    /** Media types such as `image/png` or `image/*`. All types when absent. */
    mediaTypes?: string[];
  };
}

/** Facts about a capability that every package may use. */
interface CapabilityFacts {
  /** The keys of its declaration; `undefined` if the declaration is a list. */
  keys: readonly string[] | undefined;
  /** Its names in validation errors and audit events. */
  names: readonly string[];
  /** The field of `ToolContext` that it gives. */
  accessor: string;
  /** What a host has to do if the accessor is missing. */
  remedy: string;
}

/** The capabilities that a tool may declare, in the order in which messages list them. */
export const CAPABILITIES = {
  network: {
    names: ['network'],
    keys: ['allowedHosts'],
    accessor: 'scopedFetch',
    remedy: 'construct the tool registry with capability backends',
  },
  secrets: {
    names: ['secrets'],
    keys: undefined,
    accessor: 'secretsResolver',
    remedy: 'give the backends of the tool registry a secretsBackend',
  },
  storage: {
    names: ['storage'],
    keys: ['scope', 'kind', 'ttlSecondsDefault', 'concurrency'],
    accessor: 'kvStore',
    remedy: 'give the backends of the tool registry a kvStoreFactory',
  },
  fs_reach: {
    names: ['fs_reach.read', 'fs_reach.write'],
    keys: ['read', 'write'],
    accessor: 'scopedFs',
    remedy: 'give the backends of the tool registry a storage',
  },
  process: {
    names: ['process'],
    keys: ['allowedBinaries', 'sandbox', 'background'],
    accessor: 'scopedProcess',
    remedy: 'construct the tool registry with capability backends',
  },
  attachments: {
    names: ['attachments'],
    keys: ['mediaTypes'],
    accessor: 'attachments',
    remedy: 'construct the tool registry with capability backends',
  },
  memory: {
    names: ['memory'],
    keys: ['access'],
    accessor: 'memory',
    remedy: 'give the backends of the tool registry a memory provider',
  },
  sessions: {
    names: ['sessions'],
    keys: ['access'],
    accessor: 'sessions',
    remedy: 'give the backends of the tool registry a session store',
  },
  service: {
    names: ['service'],
    keys: ['scope'],
    accessor: 'services',
    remedy: 'call the tool through a tool registry, which holds the services of a session',
  },
  delegation: {
    names: ['delegation'],
    keys: ['background'],
    accessor: 'delegation',
    remedy: 'call the tool from an agent loop, which runs the sub-agents',
  },
  calls: {
    names: ['calls'],
    keys: ['tools'],
    accessor: 'calls',
    remedy: 'call the tool in a session or an agent loop, which runs the calls',
  },
} as const satisfies Record<keyof ToolCapabilities, CapabilityFacts>;

/** The name of a capability in validation errors and audit events. */
export type CapabilityName = (typeof CAPABILITIES)[keyof typeof CAPABILITIES]['names'][number];

/** The field of `ToolContext` that a capability gives. */
export type CapabilityAccessorName = (typeof CAPABILITIES)[keyof typeof CAPABILITIES]['accessor'];

/**
 * One way in which a declaration is malformed or exceeds the policy. It is returned, not thrown.
 */
export interface CapabilityValidationError {
  tool: string;
  capability: CapabilityName;
  message: string;
}

/**
 * Strings by string key, in a namespace that the tool neither chooses nor sees. Keys and values have no
 * lone surrogates.
 *
 * @throws `KEY_INVALID`, `VALUE_INVALID`, `TTL_INVALID`, and the `STORE_…` codes
 */
export interface KeyValueStore {
  /** The value, or `null` when the key is absent or has expired. */
  get(key: string): Promise<string | null>;
  /** Writes a value. Without `ttlSeconds` the declared default applies, else the entry stays. */
  set(key: string, value: string, opts?: { ttlSeconds?: number }): Promise<void>;
  /** Removes a key; nothing happens when it is absent. */
  delete(key: string): Promise<void>;
  /** The keys that start with exactly this prefix, in order of their code points. */
  list(prefix: string): Promise<string[]>;
  /**
   * Adds `by` (1) to a decimal integer, atomically across processes. An absent value counts as 0. A
   * store has both this and `compareAndSet`, or neither.
   */
  increment?(key: string, by?: number, opts?: { ttlSeconds?: number }): Promise<number>;
  /**
   * Writes `value` if the current value equals `expected` (`null`: absent). Says whether it wrote.
   */
  compareAndSet?(
    key: string,
    expected: string | null,
    value: string,
    opts?: { ttlSeconds?: number },
  ): Promise<boolean>;
}

/** Fetch, held to the hosts of the call. */
export interface ScopedFetch {
  /**
   * As WHATWG `fetch`. Redirects are followed hop by hop, each checked.
   * @throws `HOST_NOT_ALLOWED`, `SECRET_NOT_BOUND`, `NETWORK_TIMEOUT`, `NETWORK_FAILED`,
   * `BODY_TOO_LARGE` and `QUOTA_EXCEEDED` (also from reading the body), `TOO_MANY_REDIRECTS`, or an
   * `AbortError`
   */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
}

/** Files, held to the reach of the call. Relative paths are resolved against `process.cwd()`. */
export interface ScopedFs {
  /** UTF-8 text. @throws `PATH_NOT_REACHABLE`, `FILE_NOT_FOUND`, `NOT_A_FILE`, `FILE_TOO_LARGE` */
  read(path: string): Promise<string>;
  /** Replaces the file atomically; creates missing folders. @throws `PATH_NOT_REACHABLE` */
  write(path: string, content: string | Uint8Array): Promise<void>;
  /** Adds to the end of a file, which is made where it is missing. @throws `PATH_NOT_REACHABLE` */
  append(path: string, content: string | Uint8Array): Promise<void>;
  /** Whether there is a file or a folder. @throws `PATH_NOT_REACHABLE` */
  exists(path: string): Promise<boolean>;
  /** Names of the children; empty when there is no such directory. */
  list(path: string): Promise<string[]>;
  /** The bytes of a file. Throws as `read`. */
  readBytes(path: string): Promise<Uint8Array>;
  /** Milliseconds since the epoch, or `null` when there is no file. */
  mtime(path: string): Promise<number | null>;
  /** Creates a folder and its missing parents. @throws `PATH_NOT_REACHABLE` */
  mkdir(path: string): Promise<void>;
  /** The children, each with whether it is a folder. */
  listEntries(path: string): Promise<StorageEntry[]>;
  /** Removes a file, or with `recursive` a folder. @throws `PATH_NOT_REACHABLE` */
  remove(path: string, opts?: { recursive?: boolean }): Promise<void>;
  /** Moves a file or a folder. @throws `PATH_NOT_REACHABLE` */
  rename(from: string, to: string): Promise<void>;
  /**
   * Whether the reach covers a path as it is written. It looks at no file and is no access, so a tool
   * can leave out an access that would be denied. Where a link leads is checked by the access itself.
   */
  covers?(kind: ReachKind, path: string): boolean;
}

/** Secrets, held to the declared refs. */
export interface ScopedSecretsResolver {
  /** @throws `SECRET_NOT_DECLARED`, `SECRET_NOT_FOUND`, `SECRETS_UNAVAILABLE` */
  get(ref: SecretRef): Promise<string>;
  /**
   * A placeholder for the secret. In a header or a body of a request through the same call's
   * `scopedFetch`, to a host that the secret is bound to, it is replaced by the value. Anywhere
   * else it is worthless. A secret declared without hosts is bound to the hosts that the tool
   * declares, except `*`.
   * @throws `SECRET_NOT_DECLARED`; `SECRET_NOT_BOUND` when the secret is bound to no host
   */
  handle(ref: SecretRef): Promise<string>;
}

export interface SpawnOpts {
  /** Working directory; inside the reach of the call where the tool also declares `fs_reach`. */
  cwd?: string;
  /**
   * Merged over the base environment. Variables that change which program runs, or how, are refused
   * with `BINARY_NOT_ALLOWED`: `PATH`, `HOME`, `LD_*`, `NODE_OPTIONS`, most of `GIT_*` and `PYTHON*`.
   */
  env?: Record<string, string>;
  /** Milliseconds after which the whole process tree is ended: TERM, and KILL 300 ms later. */
  timeout?: number;
  /**
   * Gets the output as it comes, decoded as UTF-8. While a promise that it returns is pending, no
   * more is read from that stream. If it throws, the process is ended and the caller gets what was
   * thrown.
   */
  onOutput?: (text: string, stream: 'stdout' | 'stderr') => void | Promise<void>;
  /**
   * What happens when a stream outgrows the cap. `'end'` (default): the process is ended. `'drop'`:
   * the process runs on, and further output only goes to `onOutput`.
   */
  overflow?: 'end' | 'drop';
  /** Bytes of each stream that the result keeps. Not more than the cap of the accessor. */
  maxOutputBytes?: number;
  /**
   * Limits of a sandboxed process, beside those of the personality. Of two limits, the smaller
   * holds.
   */
  limits?: ProcessLimits;
  /**
   * Gives the process a descriptor of its own, 4, by which it talks with the tool; called with the
   * tool's end when the process begins. A sandbox that hands no descriptor on is refused with
   * `SANDBOX_UNAVAILABLE`.
   */
  onChannel?: (channel: ProcessChannel) => void;
}

/** The tool's end of the extra descriptor of a process. The channel ends with the process. */
export interface ProcessChannel {
  /**
   * What the process writes, as it comes. Data is read from the process only as it is asked for.
   */
  readonly received: AsyncIterable<Uint8Array>;
  /** Resolves when the system has taken the text. @throws `PROCESS_ENDED` */
  send(text: string): Promise<void>;
  /** Ends the channel in both directions. Data that was not read is dropped. */
  close(): void;
}

export interface ProcessResult {
  /** The exit code; 128 + n for a child that signal n ended. */
  exitCode: number;
  stdout: string;
  stderr: string;
  /** The signal that ended the child, e.g. `SIGTERM`. */
  signal?: string;
  /** The child was ended because its time was up. */
  timedOut?: boolean;
  /** Output was larger than the cap, and was cut. */
  truncated?: boolean;
}

/** Processes, held to the declared binaries. There is no shell; `args` are literal. */
export interface ScopedProcess {
  /**
   * @throws `BINARY_NOT_ALLOWED`, `PATH_NOT_REACHABLE` (for `cwd`), `SANDBOX_UNAVAILABLE`,
   * `QUOTA_EXCEEDED`, `SPAWN_FAILED`, `AbortError`
   */
  spawn(binary: string, args: string[], opts?: SpawnOpts): Promise<ProcessResult>;
  /** Processes that outlive the call. Present for a tool that declares `process.background`. */
  background?: BackgroundProcesses;
}

/** A process that was left running. */
export interface BackgroundProcess {
  /** Unique in the session. */
  id: string;
  binary: string;
  args: readonly string[];
  state: 'running' | 'ended';
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** Milliseconds since the epoch. */
  endedAt?: number;
  /** Present once the process has ended, as in `ProcessResult`. */
  exitCode?: number;
  signal?: string;
  timedOut?: boolean;
  /** Why it could not run, or was ended by the framework. */
  error?: string;
}

/** What a background process wrote. */
export interface BackgroundOutput {
  process: BackgroundProcess;
  /** In the order in which it came. */
  chunks: { stream: 'stdout' | 'stderr'; text: string }[];
  /** The cursor for the next `read`. */
  cursor: number;
  /** Characters between the asked cursor and the first chunk that are no longer kept. */
  droppedChars: number;
}

/**
 * The processes of one session and personality that tools left running: 8 at once unless the host says
 * otherwise, each with the newest million characters of its output. They end with the session. A tool
 * sees those whose binary it declares.
 */
export interface BackgroundProcesses {
  /**
   * @throws as `spawn`, and `TOO_MANY_PROCESSES` when the session has as many running as it may
   */
  start(
    binary: string,
    args: string[],
    opts?: Omit<SpawnOpts, 'onOutput' | 'overflow' | 'maxOutputBytes' | 'onChannel'> & {
      /** Whether its standard input stays open, for `write`. It is closed when absent. */
      keepsInput?: boolean;
    },
  ): Promise<BackgroundProcess>;
  /** The running processes, and the ended ones that are not yet forgotten; the oldest first. */
  list(): Promise<BackgroundProcess[]>;
  /**
   * Reads the output since a cursor.
   *
   * @param opts `cursor` 0 (default) is the beginning; `maxChars` 100,000 by default; `waitMs` to
   * wait for output or the end when there is nothing new
   * @throws `PROCESS_NOT_FOUND`
   */
  read(
    id: string,
    opts?: { cursor?: number; maxChars?: number; waitMs?: number },
  ): Promise<BackgroundOutput>;
  /**
   * Writes to the standard input of a process that was started with `keepsInput`.
   *
   * @throws `PROCESS_NOT_FOUND`; `PROCESS_ENDED` when the process has ended, or reads nothing
   */
  write(id: string, text: string): Promise<BackgroundProcess>;
  /** Ends the whole process tree, and waits for it. @throws `PROCESS_NOT_FOUND` */
  stop(id: string): Promise<BackgroundProcess>;
}

/** What is known of a file that came with the turn. */
export interface AttachmentInfo {
  id: string;
  name: string;
  mediaType: string;
  sizeBytes: number;
}

/**
 * An attachment of a turn as the host hands it over: with its bytes, or with the id of stored
 * bytes.
 */
export interface TurnAttachment extends AttachmentInfo {
  bytes?: Uint8Array;
}

/** Where the bytes of attachments are kept. */
export interface AttachmentStore {
  /** Stores bytes under a new id. */
  put(bytes: Uint8Array, info: { name: string; mediaType: string }): Promise<AttachmentInfo>;
  /** The bytes, or `null` for an unknown id. */
  get(id: string): Promise<Uint8Array | null>;
}

/** The attachments of the turn, held to the declared media types. */
export interface ScopedAttachments {
  /** The attachments that the tool may read. */
  list(): Promise<AttachmentInfo[]>;
  /** @throws `ATTACHMENT_NOT_AVAILABLE` */
  read(id: string): Promise<Uint8Array>;
}
