import type {
  ApprovalDecision,
  ApprovalRequest,
  ImageLimits,
  PendingApproval,
  SessionIdentity,
  SessionTools,
  SessionToolsBatch,
} from '@ethosagent/core';
import type {
  EthosError,
  ImageScaler,
  SessionStore,
  ToolProgressEvent,
  ToolResult,
  TurnAttachment,
} from '@ethosagent/types';
import type { LanguageModel } from 'ai';

/** The tools of an agent. `createToolRuntime` and `registryTools` return them. */
export interface AgentTools extends SessionTools {
  /**
   * Lists the personalities. A refusal of an unknown personality names them. Without this method,
   * it names none.
   */
  personalities?(): Promise<readonly { id: string; description?: string }[]>;
}

/** The options of one batch of calls. */
export type AgentBatchOptions = SessionToolsBatch;

/** The user, agent and team that a session runs for, and the surface where it runs. */
export type AgentIdentity = SessionIdentity;

/** The prices of a model, in US dollars for a million tokens. None is negative. */
export interface TokenPrices {
  /** The price of input. */
  input: number;
  /** The price of output. */
  output: number;
  /** The price of input that the provider reads from its cache; `input` when absent. */
  cachedInput?: number;
  /** The price of input that the provider writes to its cache; `input` when absent. */
  cacheWrite?: number;
}

/**
 * The most that one turn may use. When a limit is reached, the turn ends and `TurnEnd` names the
 * limit. A resumed turn continues to count; only `maxMs` starts again. The use of sub-agents counts
 * until the turn ends, even while the turn is paused.
 */
export interface AgentLimits {
  /** The most model calls. 50 when absent. */
  maxSteps?: number;
  /** The most tool calls. 200 when absent. */
  maxCalls?: number;
  /**
   * The most calls in a row of one tool with the same arguments. The next such call does not run,
   * and the turn ends. 5 when absent.
   */
  maxIdenticalCalls?: number;
  /**
   * The most tokens: input and output of all model calls together. They are estimated if the
   * provider does not count them. The loop checks this limit between steps, so one answer may
   * exceed it. No limit when absent.
   */
  maxTokens?: number;
  /**
   * The highest cost in US dollars, of the model and the tools. The loop checks it between steps.
   * It needs `prices` for the model. No limit when absent.
   */
  maxCostUsd?: number;
  /**
   * The milliseconds that one run of the turn may take. The wait for `approve` counts, pauses do
   * not. 30 minutes when absent.
   */
  maxMs?: number;
  /**
   * The milliseconds that stores and tools have to answer after the turn is over. If the store does
   * not answer in time, the turn ends as `failed` with `STORE_UNAVAILABLE`. 2,000 when absent.
   */
  graceMs?: number;
  /** The most characters of all results of one batch of calls. 80,000 when absent. */
  resultBudgetChars?: number;
}

/**
 * How often a model is asked again when it fails. The loop asks again after HTTP 408, 409, 425, 429
 * and 5xx, after an error that the AI SDK calls retryable, if there is no connection, and if an
 * answer breaks off or is empty. No call of an answer that broke off runs.
 *
 * Other failures end the turn at once with `MODEL_FAILED`: other 4xx, a missing key, a request that
 * the provider does not support, a content filter (nothing of the answer is kept), a limit of
 * output that is reached before the first text, and a `Retry-After` that is longer than the rest of
 * the turn. If a request is refused with HTTP 400 and has new images of results, the loop asks once
 * more without those. The message of the error shows no credentials. Its `cause` is the original error.
 */
export interface AgentRetries {
  /** The most attempts after the first. 4 when absent. */
  maxRetries?: number;
  /**
   * The milliseconds before the second attempt. They double with each further attempt. The
   * `Retry-After` of a server replaces them. 1,000 when absent.
   */
  firstDelayMs?: number;
  /** The most milliseconds between two attempts, without a `Retry-After`. 60,000 when absent. */
  maxDelayMs?: number;
  /**
   * After this many milliseconds without a word of the model, its answer counts as broken off.
   * 300,000 when absent.
   */
  idleMs?: number;
}

/** How the loop keeps the history within the model's window. */
export interface ContextOptions {
  /**
   * The model's window in tokens. When absent, the loop looks it up by the id of the model, and
   * takes 32,000 for an unknown one. If this number is too large, the model refuses the prompt:
   * `MODEL_FAILED`.
   */
  window?: number;
  /**
   * The tokens of the window that are kept free for the answer. When absent,
   * `modelSettings.maxOutputTokens` or else 16,000, but at most a quarter of the window.
   */
  reserve?: number;
  /**
   * The share of the window at which the loop makes the history shorter, up to 1. 0.8 when absent.
   */
  at?: number;
  /**
   * How many of the last turns stay unchanged, if they take at most a quarter of the window. 3 when
   * absent.
   */
  keepTurns?: number;
  /**
   * Whether the model sums up the oldest part if clearing results is not enough. `true` when
   * absent.
   */
  summarise?: boolean;
  /**
   * What the provider itself does at the share `at`: `clear` removes results, and `compact` sums up
   * the history. Only models of Anthropic can do this. The loop then acts only if a prompt would
   * not fit.
   */
  native?: readonly ('clear' | 'compact')[];
}

/** When the model has to search for its tools. */
export interface ToolSearchOptions {
  /**
   * The share of the model's window that the definitions of tools may take, from 0 to 1. If they
   * take more, the model finds the tools of MCP servers with `find_tools`. If that is not enough,
   * the last ones of the other tools too. 0.1 when absent.
   */
  share?: number;
  /** The most tools that one search finds, from 1 to 50. 5 when absent. */
  limit?: number;
}

/** The limits of sub-agents. */
export interface DelegationLimits {
  /** The most levels of sub-agents. 2 when absent. */
  maxDepth?: number;
  /** The most sub-agents of one agent that run at once. 4 when absent. */
  maxRunning?: number;
  /**
   * The most sub-agents in one turn of the agent at the top, on all levels together. 16 when
   * absent.
   */
  maxTotal?: number;
  /** The most characters of a sub-agent's answer. 20,000 when absent. */
  maxResultChars?: number;
}

export interface AgentLoopOptions {
  model: LanguageModel;
  tools: AgentTools;
  sessions: SessionStore;
  /** The id of the personality. When absent, the active one of `tools`. */
  personality?: string;
  /**
   * The first part of the system prompt. The texts of the personality and of the loop follow it.
   */
  instructions?: string;
  identity?: AgentIdentity;
  limits?: AgentLimits;
  retries?: AgentRetries;
  prices?: TokenPrices;
  delegation?: DelegationLimits;
  /**
   * How the loop makes a long history shorter. `false` sends the whole history, even if it does not
   * fit.
   */
  context?: ContextOptions | false;
  /**
   * How the model finds tools that are too many for the prompt, or that set `defer`. `false` offers
   * all tools from the start.
   */
  toolSearch?: ToolSearchOptions | false;
  /**
   * Decides on a call that needs approval. The turn waits for the answer. After the answer
   * `'later'`, or without this callback, the turn pauses: call `decide`, then `resume`. An answer
   * that comes after the call has ended is ignored.
   */
  approve?: (
    request: ApprovalRequest,
  ) => ApprovalDecision | 'later' | Promise<ApprovalDecision | 'later'>;
  /**
   * Receives progress with the audience `internal`, for logs. The events of a turn never contain
   * it.
   */
  onInternal?: (event: ToolProgressEvent) => void;
  /**
   * Whether the model accepts images in tool results, and how large they may be. When absent, the
   * name of the provider decides. The images of a result are in `structured.images`, each with a
   * `mediaType` and its `data` in base64. A session shows up to 16 images and 16,000,000 characters
   * of base64. If there are more, the newest stay, up to 8 images and 8,000,000 characters, and the
   * model reads which results have lost their images.
   */
  toolImages?: boolean | Partial<ImageLimits>;
  /** Shrinks images that the model would refuse or would shrink itself. */
  imageScaler?: ImageScaler;
  /** The settings of each model call. */
  modelSettings?: ModelSettings;
  /** The clock: milliseconds since the epoch. `Date.now` when absent. */
  now?: () => number;
}

/** Settings that the loop passes to the model call unchanged. */
export interface ModelSettings {
  /** The provider sets the range. */
  temperature?: number;
  /** From 0 to 1. */
  topP?: number;
  maxOutputTokens?: number;
  /** A seed for providers that can repeat an answer. */
  seed?: number;
  headers?: Record<string, string>;
  providerOptions?: Record<string, Record<string, unknown>>;
}

/** Proof that a process holds a session for its turn. A worker makes one. */
export interface TurnClaim {
  /**
   * The number of the claim. The store accepts records of the turn only while the claim with this
   * epoch holds.
   */
  readonly epoch: number;
  /**
   * Checks the claim. The loop calls it before each record, and before each call and access of a
   * tool. It must answer at once.
   * @throws `SESSION_TAKEN` once somebody else may hold the session
   */
  assertHeld(): void;
}

/** The beginning of a turn. */
export interface TurnInput {
  sessionId: string;
  prompt: string;
  /**
   * Files of the user. The model reads their names as JSON: at most 200 characters, without `<`,
   * `>`, `[`, `]`, `|` and invisible characters.
   */
  attachments?: readonly TurnAttachment[];
  /**
   * Whether the prompt contains text of somebody else, e.g. of a mail that it quotes. Then calls
   * with effects need approval from the beginning.
   */
  untrusted?: boolean;
  abortSignal?: AbortSignal;
  /**
   * The claim on the session. Without a claim, the turn stops when somebody else holds the session.
   */
  claim?: TurnClaim;
  /**
   * Identifies the turn in its session. If the session has an unfinished turn with this key, that
   * turn is resumed. If the turn has ended, the only event is its `done`.
   */
  key?: string;
}

/** The session whose last turn is resumed. */
export interface ResumeInput {
  sessionId: string;
  abortSignal?: AbortSignal;
  /** The claim on the session, as for `TurnInput`. */
  claim?: TurnClaim;
}

/**
 * Why a turn ended. After `failed` the session is `unfinished`, and `resume` continues the turn.
 * After `paused` the session is `paused`, and after every other end it is `idle`. A call that a
 * limit stopped gets an error as its result.
 *
 * - `answered`: the last answer makes no call. Reaching a limit of tokens or cost with this answer
 *   does not change that. `message` says if a limit of output cut the answer off.
 * - `paused`: calls wait for `decide`.
 * - `aborted`: by the caller's signal, or by `abandon`.
 * - `failed`: by an error of the model, the store or the configuration.
 * - `context_full`: the part of the history that is never dropped does not fit the window.
 *   `message` says what to do.
 * - the others: by a limit of `AgentLimits`.
 */
export type TurnEnd =
  | 'answered'
  | 'paused'
  | 'aborted'
  | 'failed'
  | 'max_steps'
  | 'max_calls'
  | 'identical_calls'
  | 'max_tokens'
  | 'max_cost'
  | 'max_time'
  | 'context_full';

export interface AgentUsage {
  inputTokens: number;
  /** The part of `inputTokens` that the provider read from its cache. */
  cachedInputTokens: number;
  /** How many of the `inputTokens` the provider wrote to its cache. Absent for zero. */
  cacheWriteInputTokens?: number;
  outputTokens: number;
  /** US dollars: the cost of the tools, and that of the model if `prices` are set. */
  costUsd: number;
}

/**
 * An event of a turn. The events come in order. Every turn ends with `done`, unless the loop is
 * closed. Every `tool_end` follows a `tool_start`, except for a call that began in a process that
 * died.
 *
 * The turn waits until the reader takes an event, at most until `limits.maxMs` or an abort; then it
 * keeps the events for the reader. If the reader is slow, the oldest progress events are dropped.
 */
export type AgentEvent =
  | { type: 'start'; sessionId: string; turn: number; resumed: boolean }
  | { type: 'step'; step: number }
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  /** Everything since the last `step` is void, because the model is asked again. */
  | { type: 'retry'; attempt: number; delayMs: number; reason: string }
  | { type: 'tool_start'; toolCallId: string; toolName: string; args: unknown }
  /** Never with the audience `internal`. */
  | {
      type: 'tool_progress';
      toolCallId: string;
      toolName: string;
      message: string;
      percent?: number;
      audience: 'user' | 'dashboard';
    }
  | { type: 'tool_end'; toolCallId: string; toolName: string; result: ToolResult; ms: number }
  | { type: 'approval'; approval: PendingApproval }
  /** The loop made the history shorter. The tokens are estimates of the whole prompt. */
  | {
      type: 'context';
      /** How many results were cleared. */
      cleared: number;
      /** Whether the oldest part was summed up. */
      summarised: boolean;
      tokensBefore: number;
      tokensAfter: number;
    }
  /** Comes after each step, with the use of this step and of the whole turn so far. */
  | { type: 'usage'; step: AgentUsage; turn: AgentUsage }
  /** An error. `done` says whether it ended the turn. */
  | { type: 'error'; error: EthosError }
  | {
      type: 'done';
      end: TurnEnd;
      /** The last answer of the model. */
      text: string;
      turn: number;
      steps: number;
      calls: number;
      usage: AgentUsage;
      /** For a person: which limit ended the turn, and how to continue. */
      message?: string;
      /** The error of a turn that failed. */
      error?: EthosError;
      /** The calls that a paused turn waits for. Empty otherwise. */
      approvals: PendingApproval[];
    };

/** The state of a session. */
export type SessionState =
  /** A new turn can begin. */
  | 'idle'
  /** `resume` continues the last turn, or runs the calls that were approved. */
  | 'unfinished'
  /** Calls wait for `decide`. */
  | 'paused';
