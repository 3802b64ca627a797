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

/** What a runtime is made of. */
export interface ToolRuntimeOptions extends CallHooks {
  /** The folder with `personalities/`, `secrets/` and the runtime's own state. Absolute. */
  home: string;
  /** The id of the personality to begin with. */
  personality: string;
  /**
   * Tools, and names of tools of the extensions of this project: `read_file`, `terminal`,
   * `web_search`, … A named one is loaded from its package, which must be installed, with the
   * reducer that its package has for it. An unknown name is refused with the nearest one.
   */
  tools?: readonly (AnyTool | ToolName | (string & {}))[];
  plugins?: readonly Plugin[];
  reducers?: readonly ToolResultReducer[];
  /** The working directory: `${CWD}` in a personality, and where tools anchor relative paths. */
  cwd?: string;
  /** The session of calls that name none. A random one when absent. */
  sessionId?: string;
  /** Where state is kept that is not to be in the home: a store, or what opens one. */
  stores?: RuntimeStores;
  /** The same as `stores.secrets`, for a host that only reads. */
  secrets?: (ref: string) => Promise<string>;
  /** The same as `stores.memory`. */
  memory?: MemoryProvider;
  /** The same as `stores.sessions`. */
  sessions?: SessionStore;
  /**
   * Instead of `<home>/audit/audit.jsonl`. A list is beside it: the log and each of them get every
   * event, and an access is refused when one of them can't record it. What is given stays open when
   * the runtime is closed.
   */
  audit?: AuditSink | readonly AuditSink[];
  /** Whether events of calls hold the arguments, without secrets that the call resolved. */
  auditArguments?: boolean;
  /** Whether they hold what the model reads, without those secrets. A log of them grows fast. */
  auditResults?: boolean;
  /** Whether the log also says how long each access took, in a line of its own. */
  auditDurations?: boolean;
  /**
   * MCP servers, each for the personalities whose `mcp_servers` name it, or which have no such list.
   * `true`: those of `<home>/mcp.json`, which needs `@ethosagent/tools-mcp`. A function makes the
   * bridge, e.g. with `createMcpBridge`. A personality's servers are started when its tools are
   * first asked for. `'pinned'`: the tools of `<home>/mcp.json` as they were accepted, to be looked at;
   * no server is started, and their calls are refused.
   */
  mcp?: true | 'pinned' | ((parts: RuntimeMcpParts) => RuntimeMcp);
  /** Decides on calls that need approval, while they wait. `'later'` leaves one pending in its session. */
  approve?: AskHost;
  /** Names of environment variables that child processes get beside the usual ones. */
  passEnv?: readonly string[];
  /** Where those variables come from. `process.env` when absent. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Instead of bubblewrap, where a personality asks for a sandbox. */
  sandbox?: CapabilityBackends['sandbox'];
  /** Absolute paths that no tool reaches, beside the deny floor. */
  denyPaths?: readonly string[];
  /** Instead of the global `fetch`, and of the system's name resolution. */
  fetch?: CapabilityBackends['fetch'];
  lookup?: CapabilityBackends['lookup'];
  /**
   * Of the registry. Its `checkSchema` is Ajv when absent: JSON Schema 2020-12 (or draft-07, where
   * `$schema` says so) with formats. What takes longer than a second to check is refused.
   */
  limits?: Omit<ToolRegistryOptions, keyof CallHooks>;
  /**
   * What the models of sessions take of the images of results: `false` for none, or limits instead of
   * those that all providers have in common.
   */
  images?: boolean | Partial<ImageLimits>;
  /** Replaces `@ethosagent/image-scaler`, which is used where it is installed. `false`: none. */
  imageScaler?: ImageScaler | false;
  /**
   * The reach lock that personalities are held to: `true` for `<home>/reach.lock`, or an absolute
   * path. It is read once. Where a tool may touch more than it says, the runtime does not start, and
   * the calls of a personality that is widened later are refused. No lock when absent or `false`.
   */
  lock?: boolean | string;
}

/** What one batch has of its own. */
export interface ExecuteOptions {
  /**
   * The personality of this batch; the active one when absent. `a/b` is what both of them allow.
   */
  personality?: string;
  sessionId?: string;
  sessionKey?: string;
  platform?: string;
  agentId?: string;
  /** Whose memory and sessions the calls have; the personality's when all are absent. */
  memoryScope?: 'global' | 'per-personality';
  memoryScopeId?: string;
  userScopeId?: string;
  teamId?: string;
  /** The number of the turn, from 1. 1 when absent. */
  currentTurn?: number;
  messageCount?: number;
  abortSignal?: AbortSignal;
  /** Characters for the results of the whole batch. 80,000 when absent. */
  resultBudgetChars?: number;
  /** Gets the progress that tools report. */
  emit?: (event: ToolProgressEvent) => void;
  attachments?: readonly TurnAttachment[];
  dryRun?: boolean;
  /** The names of the tools that the batch may use, of those that the personality has. */
  tools?: readonly string[];
  /** Has a say in the calls beside the session: approvals, gates and records. */
  host?: TurnHost;
  /**
   * `none` turns off what the session does: questions after untrusted content, marks on what the
   * model reads, stored approvals. For whoever does that by itself. `session` when absent.
   */
  protections?: 'session' | 'none';
}

/** The answer to a call of a batch. */
export interface ExecuteResult extends ToolCallResult {
  /** Milliseconds from the begin of the tool to its end; 0 where it did not run. */
  durationMs: number;
  /** The call waits in its session: `runtime.session(id).decide`, then the same call again. */
  approval?: PendingApproval;
}

/** How a session of a runtime runs. */
export interface SessionOptions {
  /** The personality; the one that is active at the begin of each batch when absent. */
  personality?: string;
  /**
   * Decides while the call waits; `'later'` leaves it pending. Instead of the runtime's `approve`;
   * calls are pending when there is neither.
   */
  approve?: AskHost;
  identity?: SessionIdentity;
  limits?: SessionLimits;
  /** What its model takes of images; as the runtime has it when absent. */
  images?: boolean | Partial<ImageLimits>;
}

/** What a tool can touch under the active personality. */
export interface ToolReach {
  tool: string;
  description: string;
  /** Whether the model is told of it. */
  offered: boolean;
  /** Whether the personality lets it in, also where something that it needs is missing now. */
  given: boolean;
  grant: ResolvedGrant;
  /** It keeps its own authority: nothing of what it does is bounded or audited. */
  unconfined?: true;
}

/** Tools, bound to a personality from disk. */
export interface ToolRuntime {
  readonly registry: DefaultToolRegistry;
  readonly plugins: PluginHost;
  /** What tools remember: for the host to fill. */
  readonly memory: MemoryProvider;
  /**
   * The messages that `session_search` finds: for the host to fill. Its `delete` takes what protects a
   * session with it; in a store of the host that is deleted from otherwise, that stays.
   */
  readonly sessions: SessionStore;
  /** How the MCP servers stand, and what of them waits to be accepted. */
  readonly mcp?: RuntimeMcp;
  /** The id of the active personality. */
  readonly personalityId: string;
  /** A personality as its file says now; the active one when no id is given. @throws `CONFIG_INVALID` */
  personality(id?: string): Promise<PersonalityConfig>;
  /**
   * The personalities of the home whose files are right, with what they say of themselves.
   * @throws `CONFIG_INVALID` when the folder can't be read
   */
  personalities(): Promise<{ id: string; description?: string }[]>;
  /** A tool by its name, whether or not the personality has it. */
  tool(name: string): AnyTool | undefined;
  /**
   * What the model is told, under the active personality when none is given.
   * @throws `CONFIG_INVALID`, `REACH_WIDENED`
   */
  definitions(personality?: string): Promise<ToolDefinition[]>;
  /**
   * The tools in one conversation, with what protects it. It needs no closing.
   *
   * @param id any text; the same one goes on with what is stored of that session
   * @throws `CONFIG_INVALID` for an id or an option that can't be
   */
  session(id: string, options?: SessionOptions): ToolSession;
  /**
   * Runs a batch of calls in the session that it names, or in the runtime's own, which is not
   * stored, under the personality as its file says now: what one batch read that somebody else may
   * have written, the next one knows. Results are in the order of
   * the calls; nothing throws. While the file is wrong, every call is `not_available`; what is no
   * object is `input_invalid`, and what is no list has no answers.
   */
  execute(calls: readonly ToolCall[], options?: ExecuteOptions): Promise<ExecuteResult[]>;
  /** Makes another personality the active one. @throws `CONFIG_INVALID`, `REACH_WIDENED`, and nothing changes */
  switchPersonality(id: string): Promise<void>;
  /**
   * What doesn't fit between the tools and the active personality, and what is wrong with servers
   * and stores.
   * @throws `CONFIG_INVALID`
   */
  problems(): Promise<RuntimeProblem[]>;
  /**
   * What each tool can touch under a personality; the active one when none is given.
   * @throws `CONFIG_INVALID`
   */
  reach(personality?: string): Promise<ToolReach[]>;
  /**
   * What the tools of personalities may touch, as a lock; of all in the home when none are given.
   *
   * @throws `CONFIG_INVALID` for a personality whose file is wrong; `TOOL_UNAVAILABLE` for an MCP
   * server that is not ready: its tools would be missing
   */
  reachLock(personalities?: readonly string[]): Promise<ReachLock>;
  /**
   * What is different from a lock now, with the line of the personality that says so.
   *
   * @param personalities only of these
   * @throws as `reachLock`
   */
  compareReach(lock: ReachLock, personalities?: readonly string[]): Promise<LockChange[]>;
  /**
   * Where the parts of a personality's policy stand in its file; the active one when none is given.
   * @throws `CONFIG_INVALID`
   */
  policyPlaces(personality?: string): Promise<PolicyPlaces>;
  /**
   * The files and folders that calls changed with untrusted content at hand, of all sessions: no
   * path in `safety.untrusted.trust` covers them. @throws `STORE_UNAVAILABLE`, `STORE_CORRUPT`
   */
  untrustedFiles(): Promise<string[]>;
  /**
   * Says that somebody has looked at them, and at all below them.
   * @returns those of `untrustedFiles` that were taken out
   * @throws as `untrustedFiles`
   */
  clearUntrustedFiles(paths: readonly string[]): Promise<string[]>;
  /**
   * Ends what tools left running in a session and waits for it; the session's quotas and what it
   * had read are forgotten. The session of calls that name none when `sessionId` is absent.
   */
  endSession(sessionId?: string): Promise<void>;
  /**
   * Aborts what runs, waits for it, and closes the stores that the runtime opened. A second call
   * waits for the first.
   */
  close(): Promise<void>;
}
