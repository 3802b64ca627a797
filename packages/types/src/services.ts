import type { NetworkPolicy } from './personality.js';
import type {
  CapabilityName,
  KeyValueStore,
  ProcessResult,
  ScopedFetch,
  ScopedFs,
  ScopedProcess,
  ScopedSecretsResolver,
  SpawnOpts,
  ToolCapabilities,
} from './tool-capabilities.js';

/** The owner of something that is kept open. */
export interface ServiceOwner {
  personalityId?: string;
  /**
   * The service ends with this session. Without one it ends with its host, and a personality may have
   * 64 of them.
   */
  sessionId?: string;
  /** The working directory of processes that are given no other. */
  workingDir?: string;
}

/** What is to be kept open: an MCP server, a browser. */
export interface ServiceDeclaration {
  /** Stands in the audit where a tool's name would. */
  name: string;
  /** Only `network`, `secrets`, `storage`, `fs_reach` and `process`. */
  capabilities: ToolCapabilities;
}

/** A process with an open standard input. */
export interface ProcessConnection {
  /**
   * Writes to standard input; resolves when there is room for more.
   * @throws `PROCESS_ENDED` when the process has ended or closed its input, or `end` was called
   */
  write(data: string | Uint8Array): Promise<void>;
  /** Ends standard input. */
  end(): void;
  /** How it ended. Rejects as `ScopedProcess.spawn` does. */
  readonly result: Promise<ProcessResult>;
  /** Ends the whole process tree, and waits for it. */
  stop(): Promise<void>;
}

/** A command line for a library that starts the process itself. */
export interface PreparedCommand {
  /** An absolute path. */
  file: string;
  args: string[];
  /** The whole environment. */
  env: Record<string, string>;
  cwd?: string;
}

/** Processes that last as long as their service. */
export interface ServiceProcesses extends ScopedProcess {
  /**
   * Starts a process whose standard input stays open. All output goes to `onOutput`; nothing is
   * kept.
   *
   * @throws as `spawn`
   */
  open(
    binary: string,
    args: string[],
    opts?: Omit<SpawnOpts, 'overflow' | 'maxOutputBytes'>,
  ): Promise<ProcessConnection>;
  /**
   * Checks and records a start as `spawn` does, and leaves the start to the caller, who ends the
   * process when the service's signal fires. It does not count for `process_seconds`. On Linux, what
   * still has its environment after that is ended too.
   *
   * @throws as `spawn`; `SANDBOX_UNAVAILABLE` where the personality requires a sandbox, since the
   * caller could leave the sandbox out
   */
  prepare(
    binary: string,
    args: string[],
    opts?: Pick<SpawnOpts, 'cwd' | 'env'>,
  ): Promise<PreparedCommand>;
}

/**
 * An HTTP proxy on 127.0.0.1 that lets through what the service's `scopedFetch` would, `https:` and
 * WebSockets by `CONNECT`.
 */
export interface ServiceProxy {
  /** `http://127.0.0.1:<port>` */
  server: string;
  username: string;
  password: string;
  /**
   * When the proxy itself answers, instead of a server, its answer has the header `x-ethos-proxy`
   * with this value. Over `http:` no server can send it.
   */
  mark: string;
}

/** An access that was refused to a service, as the audit has it. */
export interface ServiceDenial {
  capability: CapabilityName;
  /** Origin and path, secret ref, key, file path or binary. */
  target: string;
  /** The rule that denied. */
  reason: string;
}

/**
 * What a service may reach, until it ends, as decided when it was opened: its accessors are those of a
 * call that declares the same, every access is checked and recorded the same way, and `per_session`
 * quotas hold, not `per_call` ones.
 */
export interface ServiceScope {
  /** Fires when the service ends. */
  readonly signal: AbortSignal;
  readonly personalityId?: string;
  readonly sessionId?: string;
  /**
   * Whether a service that a call of this context opened now would reach the same. The policy of
   * the personality, or of the turn, may have changed. Call this before each use of a service that
   * was opened for another call. When the answer is no, open the service anew.
   */
  isCurrent(ctx: { networkPolicy?: NetworkPolicy }): boolean;
  /** Whether its processes run in a sandbox. `preferred`: only if the machine has a sandbox. */
  readonly sandbox?: 'required' | 'preferred';
  /**
   * The 20 accesses that were refused last to the service and to its processes, each once, the latest
   * at the end. They help to explain why the service failed. An access that is refused again is a new
   * object.
   */
  denials?(): readonly ServiceDenial[];
  /** The folders, where `fs_reach` is declared. */
  readonly reach?: { read: readonly string[]; write: readonly string[] };
  /** The hosts, where `network` is declared. */
  readonly hosts?: readonly string[];
  /**
   * Headers have 60 seconds. A body may last as long as the service, with 5 silent minutes at most. An
   * event stream (`text/event-stream`) may be of any length, any other body has the cap of a call.
   */
  readonly scopedFetch?: ScopedFetch;
  readonly scopedFs?: ScopedFs;
  readonly scopedProcess?: ServiceProcesses;
  readonly secretsResolver?: ScopedSecretsResolver;
  /** Calls do not take turns here: use `compareAndSet`. */
  readonly kvStore?: KeyValueStore;
  /** The proxy for programs of the service. Present with a declared `network`. */
  proxy?(): Promise<ServiceProxy>;
  /**
   * Takes secrets that the service resolved out of a text, as the framework does with the results of
   * all calls of the session; without a session, of the personality.
   */
  redact(text: string): string;
  /** Runs `close` before `signal` fires and the accessors end; 5 seconds unless the host says otherwise. */
  onEnd(close: () => void | Promise<void>): void;
  /** Ends the service, and waits for the functions that `onEnd` got. */
  end(): Promise<void>;
}

/** Opens services where there is no call. */
export interface ServiceHost {
  /**
   * @throws `TOOL_INVALID` for a malformed declaration, `TOO_MANY_SERVICES`
   */
  openService(declaration: ServiceDeclaration, owner: ServiceOwner): Promise<ServiceScope>;
}

/**
 * Opens services for a tool. They reach what the tool declares, and belong to the session of the
 * call.
 */
export interface ScopedServices {
  /**
   * @throws `TOO_MANY_SERVICES` when the session has as many as it may
   */
  open(): Promise<ServiceScope>;
}
