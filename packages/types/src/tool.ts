import type { ScopedDelegation } from './delegation.js';
import type { FailureCause } from './errors.js';
import type { ScopedMemory } from './memory.js';
import type { NetworkPolicy } from './personality.js';
import type { ScopedServices } from './services.js';
import type { ScopedSessions } from './sessions.js';
import type { Storage } from './storage.js';
import type {
  CapabilityAccessorName,
  KeyValueStore,
  ScopedAttachments,
  ScopedFetch,
  ScopedFs,
  ScopedProcess,
  ScopedSecretsResolver,
  ToolCapabilities,
} from './tool-capabilities.js';

/** Every error class of a tool result, with its meaning. */
export const TOOL_ERROR_CODES = {
  input_invalid: 'The LLM produced args that fail validation.',
  not_available: 'The tool is gated off (missing API key, binary, or personality allowlist).',
  execution_failed: 'Runtime failure inside execute.',
  STALE_WRITE:
    "The file's on-disk mtime differs from the value recorded at read time; the write is refused to prevent silent clobber.",
} as const;

export type ToolErrorCode = keyof typeof TOOL_ERROR_CODES;

/** What a call comes back with. */
export type ToolResult =
  | {
      ok: true;
      /** What the model reads. Cut to the budget of the call, it ends in `\n[truncated -- N chars total]`. */
      value: string;
      /** A payload for consumers that know this tool. */
      structured?: Record<string, unknown>;
      /** US dollars that this call cost. */
      cost_usd?: number;
      /** No outsider wrote any of it, although the tool's output may be untrusted. */
      untrusted?: false;
    }
  | {
      ok: false;
      /** What the model reads. Cut as `value` is. */
      error: string;
      code: ToolErrorCode;
      /**
       * Why the call failed, for the host: switch on this, never on `error`. Absent where the tool
       * itself failed, and no error of this project is behind it. A cause from the tool's accessors
       * (`HOST_NOT_ALLOWED`, …) is only the tool's word: the audit log is the record. A cause that
       * says how the framework ended a call (`CALL_ABORTED`, `NOT_APPROVED`, …) can't come from a
       * tool.
       */
      cause?: FailureCause;
    };

/**
 * Word from a running tool. The registry adds the tool's name, takes secrets out, and drops what comes
 * after the end of the call.
 */
export interface ToolProgressEvent {
  type: 'progress';
  toolName: string;
  message: string;
  /** 0 to 100. */
  percent?: number;
  /** Who may see it. `'internal'` when absent. */
  audience?: 'internal' | 'user' | 'dashboard';
}

/**
 * Calls of other tools from within a call. Each such call passes the same gates, approvals and
 * quotas as a call of the model. It is recorded in the same way, with the id of the calling call.
 * Only what the calling tool returns reaches the model.
 */
export interface ScopedCalls {
  /** The names of the tools that may be called, as far as the personality has them. */
  readonly tools: readonly string[];
  /**
   * Runs a call to its end. A failure is a result. The text of a result is not marked as untrusted.
   * The call is aborted when the calling call ends, or when `signal` fires.
   *
   * @throws `TOOL_NOT_CALLABLE` for another tool, `CALL_ENDED`
   */
  call(name: string, args: unknown, opts?: { signal?: AbortSignal }): Promise<ToolResult>;
}

/** What a tool sees of the turn, and the accessors that its capabilities gave it. */
export interface ToolContext {
  sessionId: string;
  /** The id of this call, as the model's client gave it. */
  toolCallId?: string;
  /**
   * Present for a tool with `idempotent`. The key stays the same when this call runs again, and
   * every other call has another key. Hand the key to the service that does the work, so that the
   * work is done once.
   */
  idempotencyKey?: string;
  /** A session key for people, e.g. `cli:my-repo`. */
  sessionKey: string;
  /** The surface of the turn: `cli`, `telegram`, … */
  platform: string;
  /** The process's working directory at the start of the turn. Anchor relative paths here. */
  workingDir: string;
  agentId?: string;
  personalityId?: string;
  memoryScope?: 'global' | 'per-personality';
  memoryScopeId?: string;
  userScopeId?: string;
  teamId?: string;
  /** 1 for the first turn of the session. */
  currentTurn: number;
  messageCount: number;
  /**
   * Fires when the user cancels or the turn times out. When the call's own time is up, the
   * accessors also end what they do.
   */
  abortSignal: AbortSignal;
  /** Reports progress. Never throws. */
  emit: (event: ToolProgressEvent) => void;
  /** Characters that the value may have before it is cut. */
  resultBudgetChars: number;
  /**
   * The turn's storage, as far as the tool's `fs_reach` goes. Only a tool that declares `fs_reach`
   * gets it.
   */
  storage?: Storage;
  /**
   * When each file was last read, by absolute path. A writer refuses with `STALE_WRITE` when the
   * file has changed since.
   */
  readMtimes?: Map<string, { mtimeMs: number; readAtTurn: number }>;
  networkPolicy?: NetworkPolicy;
  kvStore?: KeyValueStore;
  secretsResolver?: ScopedSecretsResolver;
  scopedFetch?: ScopedFetch;
  scopedFs?: ScopedFs;
  scopedProcess?: ScopedProcess;
  attachments?: ScopedAttachments;
  memory?: ScopedMemory;
  sessions?: ScopedSessions;
  services?: ScopedServices;
  delegation?: ScopedDelegation;
  calls?: ScopedCalls;
  /** What the personality sets for this tool, parsed by the tool's `settings`. */
  settings?: unknown;
  /** The call is a dry run: return what would happen, without a side effect. */
  dryRun?: boolean;
}

/** The fields of `ToolContext` that only a declared capability puts there. */
export type ToolAccessorName = CapabilityAccessorName | 'storage';

/** Arguments after parsing, or why they are wrong. */
export type ToolInputResult<TArgs> = { ok: true; args: TArgs } | { ok: false; error: string };

/**
 * The two halves of a tool that validates its arguments. The registry parses once, before approval.
 */
export interface ToolInput<TArgs> {
  /** Checks arguments and gives them their types. It returns the problems instead of throwing. */
  parse(args: unknown): ToolInputResult<TArgs> | Promise<ToolInputResult<TArgs>>;
  /** Runs with arguments that `parse` returned. */
  run(args: TArgs, ctx: ToolContext): Promise<ToolResult>;
}

/** Where settings are wrong, and what is wrong. */
export interface ToolSettingsIssue {
  /** Keys and indexes, from the settings of the tool on. */
  path: (string | number)[];
  message: string;
}

/** What an operator can set for a tool, for each personality. */
export interface ToolSettings {
  /** JSON Schema of the settings. */
  schema: Record<string, unknown>;
  /** Parses what the personality says; `{}` where it says nothing. */
  parse(
    value: unknown,
  ): { ok: true; settings: unknown } | { ok: false; issues: ToolSettingsIssue[] };
}

/** What a tool knows of a call when it says whether the call needs approval. */
export interface ApprovalFacts<TSettings = unknown> {
  /** As `ctx.settings`. */
  settings: TSettings;
  workingDir: string;
  sessionId: string;
  personalityId?: string;
}

/** What a call may do outside: change something that stays, send something away, run a program. */
export type ToolEffect = 'write' | 'send' | 'spawn';

/** A tool: what the model is told, what it may reach, and what it does. */
export interface Tool<TArgs = unknown> {
  /** Unique; `snake_case`. `mcp__<server>__<tool>` marks a tool of an MCP server. */
  name: string;
  /** One paragraph that the model reads to decide when to call. */
  description: string;
  /**
   * JSON Schema of the arguments. Where `input` is absent, a runtime checks it, and a registry that has
   * `checkSchema`.
   */
  schema: Record<string, unknown>;
  /** A group label: `file`, `web`, … */
  toolset?: string;
  /** The most characters of a result. The budget of the turn holds as well. */
  maxResultChars?: number;
  capabilities: ToolCapabilities;
  /** Runs a call. Arguments have passed the schema. What it throws becomes a failed result. */
  execute: (args: TArgs, ctx: ToolContext) => Promise<ToolResult>;
  /** Asked whenever the list of tools is built, and before a call. */
  isAvailable?: () => boolean;
  /** A personality's toolset does not filter this tool out. For tools of the framework itself. */
  alwaysInclude?: boolean;
  /** An adversary may have written the output: file contents, pages, output of commands. */
  outputIsUntrusted?: boolean;
  /**
   * The effects of calls. When absent, all that the capabilities allow. An agent that has read
   * untrusted content asks before a call with an effect.
   */
  effects?: readonly ToolEffect[];
  /** Milliseconds that a call may take. The registry's default when absent. */
  timeoutMs?: number;
  /** On a dry run the tool runs, without a side effect. `scopedFs` and `storage` change no file then. */
  supportsDryRun?: boolean;
  /**
   * A call waits for the host's `approve` callback. A function gets the parsed arguments. If it
   * returns a text, the call waits, and the host is told the text as the reason.
   */
  requiresApproval?:
    | boolean
    | ((
        args: TArgs,
        // biome-ignore lint/suspicious/noExplicitAny: what `settings` makes of them, which only the tool knows
        facts: ApprovalFacts<any>,
      ) => boolean | string | Promise<boolean | string>);
  /** What an operator can set for this tool in a personality. Set by `defineTool`. */
  settings?: ToolSettings;
  /** The key in `tool_settings` for this tool; the tool's name when absent. */
  settingsKey?: string;
  /**
   * `false`: the registry passes arguments on as they are. It does so even where it checks the
   * arguments of tools with a plain `schema`. For a tool that checks them itself.
   */
  validateSchema?: boolean;
  /**
   * JSON Schema of the `structured` part of its results. Models and MCP clients are told of it.
   * Where the registry checks schemas, a result that does not fit is a failure.
   */
  outputSchema?: Record<string, unknown>;
  /**
   * The agent loop tells the model of this tool only after the model has looked for it, with
   * `find_tools`. For tools that are seldom used.
   */
  defer?: boolean;
  /**
   * A result of this tool is the answer: the agent's turn ends with its `value`, and the model is not
   * asked again. A failure goes to the model like any other.
   */
  returnDirect?: boolean;
  /**
   * A call that runs twice with the same `ctx.idempotencyKey` does no more than one that runs once.
   * So an interrupted call runs again when its turn is resumed, if the tool and the personality
   * have not changed. Without this the model is told that the call may have run.
   */
  idempotent?: boolean;
  /**
   * A foreign function with its own authority: what it does is neither bounded nor
   * audited. Its calls need approval, unless `requiresApproval` says otherwise.
   */
  unconfined?: boolean;
  /** Set by `defineTool` when it was given an `input` schema. */
  input?: ToolInput<TArgs>;
}

/** A tool with any arguments. */
// biome-ignore lint/suspicious/noExplicitAny: the only type that a tool of any argument type is assignable to and callable through
export type AnyTool = Tool<any>;

export interface ToolFilterOpts {
  /** Only tools of these MCP servers. No filter when absent. */
  allowedMcpServers?: string[];
  /** Only tools of these plugins; `[]`: only built-in tools. No filter when absent. */
  allowedPlugins?: string[];
  /** Only these tools of MCP servers, by their whole names. No filter when absent. */
  allowedMcpTools?: string[];
  /** Tools that are left out, whatever else lets them in. */
  excludeTools?: string[];
}
