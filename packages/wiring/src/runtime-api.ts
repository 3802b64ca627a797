import type {
  AskHost,
  CallHooks,
  CapabilityBackends,
  DefaultToolRegistry,
  ImageLimits,
  PendingApproval,
  PolicyPlaces,
  ResolvedGrant,
  SessionIdentity,
  SessionLimits,
  ToolRegistryOptions,
  ToolSession,
  TurnHost,
} from '@ethosagent/core';
import type { Plugin, PluginHost } from '@ethosagent/plugin-sdk';
import type {
  AnyTool,
  AuditSink,
  ImageScaler,
  MemoryProvider,
  PersonalityConfig,
  SessionStore,
  ToolCall,
  ToolCallResult,
  ToolDefinition,
  ToolProgressEvent,
  ToolResultReducer,
  TurnAttachment,
} from '@ethosagent/types';
import type { ToolName } from './extension-tools.js';
import type { LockChange } from './lock/lock-change.js';
import type { ReachLock } from './lock/reach-lock.js';
import type { RuntimeMcp, RuntimeMcpParts } from './mcp.js';
import type { RuntimeProblem } from './runtime-problem.js';
import type { RuntimeStores } from './stores/runtime-stores.js';

/** The options of `createToolRuntime`. */
export interface ToolRuntimeOptions extends CallHooks {
  /**
   * The absolute path of the folder with `personalities/`, `secrets/` and the runtime's own state.
   */
  home: string;
  /** The id of the personality that is active at the start. */
  personality: string;
  /**
   * Tools, as objects or by their names in the extensions of this project: `read_file`, `terminal`,
   * `web_search`, … A named tool is loaded from its package, together with its reducer. The package
   * must be installed. An unknown name is refused, with the nearest known name.
   */
  tools?: readonly (AnyTool | ToolName | (string & {}))[];
  plugins?: readonly Plugin[];
  reducers?: readonly ToolResultReducer[];
  /**
   * The working directory, as the absolute path of a folder. Tools resolve relative paths from it,
   * and `${CWD}` in a personality stands for it. The directory of the process when absent.
   */
  cwd?: string;
  /** The session of calls that name no session. A random one when absent. */
  sessionId?: string;
  /** Stores, or functions that open them. A store that is absent here is in the home. */
  stores?: RuntimeStores;
  /**
   * Reads a secret by its ref, for a host that only reads secrets. Otherwise use `stores.secrets`.
   */
  secrets?: (ref: string) => Promise<string>;
  /** Another name of `stores.memory`. */
  memory?: MemoryProvider;
  /** Another name of `stores.sessions`. */
  sessions?: SessionStore;
  /**
   * The audit sink. A single sink replaces the log `<home>/audit/audit.jsonl`. The sinks of a list
   * are used together with that log: each gets every event, and an access is refused if one of them
   * can't record it. The runtime does not close these sinks.
   */
  audit?: AuditSink | readonly AuditSink[];
  /**
   * Whether the events of calls contain the arguments, without the secrets that the call resolved.
   */
  auditArguments?: boolean;
  /**
   * Whether the events of calls contain what the model reads, without the secrets that the call
   * resolved. Such a log grows fast.
   */
  auditResults?: boolean;
  /** Whether the log also contains how long each access took, in a line of its own. */
  auditDurations?: boolean;
  /**
   * Whether the log writes the lines of one turn of the event loop together, which takes a fraction
   * of the time where many calls run at once. An access may then happen before its line is in the
   * file. A call gets its answer after that. If the process is killed in between, the lines of calls
   * without an answer are lost.
   */
  auditBatch?: boolean;
  /**
   * The MCP servers. A personality gets the servers that its `mcp_servers` names, or all servers if
   * it has no such list. They start when the personality's tools are first asked for.
   *
   * - `true`: the servers of `<home>/mcp.json`. This needs `@ethosagent/tools-mcp`.
   * - a function: returns the bridge to the servers, e.g. that of `createMcpBridge`.
   * - `'pinned'`: the tools of `<home>/mcp.json` as they were accepted, for inspection only. No
   *   server starts, and calls of these tools are refused.
   */
  mcp?: true | 'pinned' | ((parts: RuntimeMcpParts) => RuntimeMcp);
  /**
   * Decides on a call that needs approval. The call waits for the answer. `'later'` leaves the call
   * pending in its session.
   */
  approve?: AskHost;
  /** The names of further environment variables that child processes get. */
  passEnv?: readonly string[];
  /**
   * The environment of the host, from which child processes get their variables. `process.env` when
   * absent.
   */
  env?: Readonly<Record<string, string | undefined>>;
  /** The sandbox for personalities that ask for one. Bubblewrap when absent. */
  sandbox?: CapabilityBackends['sandbox'];
  /** Absolute paths that no tool reaches, in addition to the deny floor. */
  denyPaths?: readonly string[];
  /** Replaces the global `fetch`. */
  fetch?: CapabilityBackends['fetch'];
  /** Replaces the name resolution of the system. */
  lookup?: CapabilityBackends['lookup'];
  /**
   * The limits of the tool registry. When its `checkSchema` is absent, Ajv checks arguments: JSON
   * Schema 2020-12, or draft-07 if `$schema` says so, with formats. Arguments that take longer than
   * a second to check are refused.
   */
  limits?: Omit<ToolRegistryOptions, keyof CallHooks>;
  /**
   * The images that the models of sessions accept in results: `false` for none, or their limits.
   * When absent, the limits fit all providers.
   */
  images?: boolean | Partial<ImageLimits>;
  /**
   * Shrinks images. When absent, `@ethosagent/image-scaler` does so if it is installed. `false`
   * turns it off.
   */
  imageScaler?: ImageScaler | false;
  /**
   * The reach lock: `true` for `<home>/reach.lock`, or the absolute path of another file. It is
   * read once. If a tool may touch more than the lock says, the runtime does not start. If a
   * personality is widened later, its calls are refused. No lock when absent or `false`.
   */
  lock?: boolean | string;
}

/** The options of one batch of calls. */
export interface ExecuteOptions {
  /**
   * The personality of this batch; the active one when absent. Under `a/b`, the calls may do only
   * what both personalities allow.
   */
  personality?: string;
  sessionId?: string;
  sessionKey?: string;
  platform?: string;
  agentId?: string;
  /**
   * The owner of the memory and sessions that the calls use. When all four fields are absent, the
   * personality decides.
   */
  memoryScope?: 'global' | 'per-personality';
  memoryScopeId?: string;
  userScopeId?: string;
  teamId?: string;
  /** The number of the turn, from 1. 1 when absent. */
  currentTurn?: number;
  messageCount?: number;
  abortSignal?: AbortSignal;
  /** The most characters of all results of the batch. 80,000 when absent. */
  resultBudgetChars?: number;
  /** Receives the progress that tools report. */
  emit?: (event: ToolProgressEvent) => void;
  attachments?: readonly TurnAttachment[];
  dryRun?: boolean;
  /** The names of the tools that the batch may use. They only narrow those of the personality. */
  tools?: readonly string[];
  /** Approves, refuses and records calls, in addition to the session. */
  host?: TurnHost;
  /**
   * `none` turns off the protections of the session, for a host that has its own: approvals after
   * untrusted content, marks on what the model reads, and stored approvals. `session` when absent.
   */
  protections?: 'session' | 'none';
}

/** The answer to a call of a batch. */
export interface ExecuteResult extends ToolCallResult {
  /** How many milliseconds the tool ran; 0 if it did not run. */
  durationMs: number;
  /**
   * Present if the call waits for a decision. Call `runtime.session(id).decide`, then make the same
   * call again.
   */
  approval?: PendingApproval;
}

/** The options of a session. */
export interface SessionOptions {
  /** The personality. When absent, each batch runs under the one that is active when it begins. */
  personality?: string;
  /**
   * Decides on a call that needs approval; `'later'` leaves the call pending. It replaces `approve`
   * of the runtime. Without either, such calls are pending.
   */
  approve?: AskHost;
  identity?: SessionIdentity;
  limits?: SessionLimits;
  /** The images that the model of this session accepts. As for the runtime when absent. */
  images?: boolean | Partial<ImageLimits>;
}

/** The reach of a tool under a personality. */
export interface ToolReach {
  tool: string;
  description: string;
  /** Whether the model is offered the tool. */
  offered: boolean;
  /** Whether the personality allows the tool, even if something that it needs is missing now. */
  given: boolean;
  grant: ResolvedGrant;
  /** The tool keeps its own authority: nothing limits or audits what it does. */
  unconfined?: true;
}

/** The tools of a home, each call limited by its personality. */
export interface ToolRuntime {
  readonly registry: DefaultToolRegistry;
  readonly plugins: PluginHost;
  /** The store of what tools remember. The host may write to it. */
  readonly memory: MemoryProvider;
  /**
   * The store of messages, in which `session_search` searches. The host writes to it. Its `delete`
   * also deletes what tools keep in the `session` scope, and the protections of the session. If the
   * host deletes a session from its own store in another way, both stay.
   */
  readonly sessions: SessionStore;
  /** The MCP servers: their state, and the changed tools that wait to be accepted. */
  readonly mcp?: RuntimeMcp;
  /** The id of the active personality. */
  readonly personalityId: string;
  /**
   * Returns a personality as its file is now; the active one without an `id`. @throws
   * `CONFIG_INVALID` if the file is missing or invalid
   */
  personality(id?: string): Promise<PersonalityConfig>;
  /**
   * Lists the personalities of the home that have a valid file.
   * @throws `CONFIG_INVALID` if the folder can't be read
   */
  personalities(): Promise<{ id: string; description?: string }[]>;
  /** Returns a tool by its name, even if the personality does not have it. */
  tool(name: string): AnyTool | undefined;
  /**
   * Returns the tools that the model is offered under a personality; the active one when absent.
   * @throws `CONFIG_INVALID` if the personality is invalid; `REACH_WIDENED` if it reaches more than
   * the lock
   */
  definitions(personality?: string): Promise<ToolDefinition[]>;
  /**
   * Opens a session: the tools in one conversation, with its protections. It need not be closed.
   *
   * @param id any text; the same id continues the stored session
   * @throws `CONFIG_INVALID` for an invalid id or option
   */
  session(id: string, options?: SessionOptions): ToolSession;
  /**
   * Runs a batch of calls under its personality, as the file is now. The session is the one that
   * the options name, or that of the runtime, which is stored only if the host named it. A batch
   * knows what untrusted content earlier batches of its session have read.
   *
   * Nothing throws. While the personality is invalid, every call gets `not_available`. A call that
   * is not an object gets `input_invalid`.
   *
   * @returns the results, in the order of the calls; one `input_invalid` if `calls` is not a list
   */
  execute(calls: readonly ToolCall[], options?: ExecuteOptions): Promise<ExecuteResult[]>;
  /**
   * Makes another personality the active one. After an error, the active one is unchanged. @throws
   * `CONFIG_INVALID`, `REACH_WIDENED`
   */
  switchPersonality(id: string): Promise<void>;
  /**
   * Finds problems: tools that do not fit the active personality, and errors of servers, stores and
   * the machine.
   * @throws `CONFIG_INVALID`
   */
  problems(): Promise<RuntimeProblem[]>;
  /**
   * Lists each tool with its reach under a personality; the active one when absent.
   * @throws `CONFIG_INVALID`
   */
  reach(personality?: string): Promise<ToolReach[]>;
  /**
   * Takes a lock of what the tools may touch now, under the named personalities or all of the home.
   *
   * @throws `CONFIG_INVALID` for a personality with an invalid file; `TOOL_UNAVAILABLE` if an MCP
   * server is not ready, since its tools would be missing
   */
  reachLock(personalities?: readonly string[]): Promise<ReachLock>;
  /**
   * Compares a lock with what the tools may touch now. Each change has the line of the personality
   * that causes it.
   *
   * @param personalities limits the comparison to these
   * @throws as `reachLock`
   */
  compareReach(lock: ReachLock, personalities?: readonly string[]): Promise<LockChange[]>;
  /**
   * Finds where the parts of a personality's policy stand in its file; of the active one when
   * absent.
   * @throws `CONFIG_INVALID`
   */
  policyPlaces(personality?: string): Promise<PolicyPlaces>;
  /**
   * Lists the files and folders that calls of all sessions changed after they could use untrusted
   * content. Paths that `safety.untrusted.trust` covers are not among them. @throws
   * `STORE_UNAVAILABLE`, `STORE_CORRUPT`
   */
  untrustedFiles(): Promise<string[]>;
  /**
   * Removes paths, and everything below them, from `untrustedFiles`, after a person has checked
   * them.
   * @returns the paths that were removed
   * @throws as `untrustedFiles`
   */
  clearUntrustedFiles(paths: readonly string[]): Promise<string[]>;
  /**
   * Ends what tools left running in a session, and waits for it. The runtime forgets the session's
   * quotas and what the session has read. Without an id, this ends the session of calls that name
   * none.
   */
  endSession(sessionId?: string): Promise<void>;
  /**
   * Aborts everything that runs, waits for its end, and closes the stores that the runtime opened.
   * A second call waits for the first.
   */
  close(): Promise<void>;
}
