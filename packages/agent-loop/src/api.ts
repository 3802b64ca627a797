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

/** The tools of an agent, as `createToolRuntime` and `registryTools` have them. */
export interface AgentTools extends SessionTools {
  /** The personalities that there are, for whoever names one that is not. None are told when absent. */
  personalities?(): Promise<readonly { id: string; description?: string }[]>;
}

/** What a batch of an agent has of its own. */
export type AgentBatchOptions = SessionToolsBatch;

/** For whom a session runs. */
export type AgentIdentity = SessionIdentity;

/** US dollars for a million tokens, from zero. */
export interface TokenPrices {
  /** US dollars for a million tokens of input. */
  input: number;
  /** US dollars for a million tokens of output. */
  output: number;
  /** Of input that the provider had cached; as `input` when absent. */
  cachedInput?: number;
  /** Of input that the provider wrote to its cache; as `input` when absent. */
  cacheWrite?: number;
}

/**
 * What one turn may use up. Over a limit the turn ends, with that as its reason. A resumed turn goes on
 * counting; only `maxMs` starts again. What sub-agents use counts until the turn ends, also while it is
 * paused.
 */
export interface AgentLimits {
  /** Model calls. 50. */
  maxSteps?: number;
  /** Tool calls. 200. */
  maxCalls?: number;
  /** Calls in a row of one tool with the very same arguments. One more ends the turn and does not run. 5. */
  maxIdenticalCalls?: number;
  /**
   * Tokens, input and output of all model calls together; estimated where the provider does not count.
   * Checked between steps, so that one answer may go beyond it. No limit when absent.
   */
  maxTokens?: number;
  /**
   * US dollars, of the model and of the tools; checked as `maxTokens`. No limit when absent; needs
   * `prices` for the model.
   */
  maxCostUsd?: number;
  /** Milliseconds, of each run of the turn, with the wait for `approve`, without pauses. 30 minutes. */
  maxMs?: number;
  /**
   * Milliseconds that stores and tools have for an answer once the turn is over. Without the store's,
   * the turn ends as `failed` with `STORE_UNAVAILABLE`. 2,000.
   */
  graceMs?: number;
  /** Characters for the results of one batch of calls. 80,000. */
  resultBudgetChars?: number;
}

/**
 * How a model is asked again when it fails: after HTTP 408, 409, 425, 429 and 5xx, an error that the AI
 * SDK calls retryable, no connection, an answer that breaks off or says nothing. Nothing of a broken
 * answer runs.
 *
 * `MODEL_FAILED` at once: other 4xx, no key, a request that the provider can't take, a content filter
 * (nothing of the answer is kept), a limit of output before anything was said, a `Retry-After` beyond the
 * time that the turn has left. Its message shows no credentials; its `cause` is what was thrown.
 */
export interface AgentRetries {
  /** Attempts after the first. 4. */
  maxRetries?: number;
  /** Milliseconds before the second attempt, doubled each time; a server's `Retry-After` wins. 1,000. */
  firstDelayMs?: number;
  /** 60,000. */
  maxDelayMs?: number;
  /** Milliseconds without a word of the model after which its answer counts as broken off. 300,000. */
  idleMs?: number;
}

/** How the history is kept within the window of the model. */
export interface ContextOptions {
  /**
   * Tokens of the model's window. By the id of the model when absent; 32,000 of one that is not known.
   * When it is too large, the model refuses the prompt: `MODEL_FAILED`.
   */
  window?: number;
  /**
   * Tokens of the window that are left for the answer. `modelSettings.maxOutputTokens` when absent,
   * else 16,000; at most a quarter of the window.
   */
  reserve?: number;
  /** The share of the window at which the history is made shorter. 0.8. */
  at?: number;
  /** Turns that stay as they are, as long as they take up to a quarter of the window. 3. */
  keepTurns?: number;
  /** Whether the model sums up what is oldest where clearing results is not enough. true. */
  summarise?: boolean;
  /**
   * What the provider does itself at that share: `clear` results, `compact` the history. Models of
   * Anthropic alone. The loop then acts only when a prompt would not fit any more.
   */
  native?: readonly ('clear' | 'compact')[];
}

/** When a model has to look for its tools. */
export interface ToolSearchOptions {
  /**
   * The share of the model's window that definitions of tools may take. Beyond it, those of MCP servers
   * are found with `find_tools`, and if that is not enough, the last of the others too. 0.1.
   */
  share?: number;
  /** Tools that one search finds. 5. */
  limit?: number;
}

/** What sub-agents may do. */
export interface DelegationLimits {
  /** Sub-agents below each other. 2. */
  maxDepth?: number;
  /** Sub-agents of one agent that run at once. 4. */
  maxRunning?: number;
  /** Sub-agents of one turn of the agent at the top, all levels together. 16. */
  maxTotal?: number;
  /** Characters of a sub-agent's answer. 20,000. */
  maxResultChars?: number;
}

export interface AgentLoopOptions {
  model: LanguageModel;
  tools: AgentTools;
  sessions: SessionStore;
  /** The id of the personality; the active one of `tools` when absent. */
  personality?: string;
  /** What the model is told about itself, before what the framework tells it. */
  instructions?: string;
  identity?: AgentIdentity;
  limits?: AgentLimits;
  retries?: AgentRetries;
  prices?: TokenPrices;
  delegation?: DelegationLimits;
  /** How a long history is made shorter; `false`: it is sent whole, whether or not it fits. */
  context?: ContextOptions | false;
  /** How tools are found that are too many to be told, or say `defer`; `false`: all are told. */
  toolSearch?: ToolSearchOptions | false;
  /**
   * Decides on calls that need approval while the turn waits. `'later'`, and no callback: the turn
   * pauses, and `decide` and `resume` go on with it. An answer after the call has ended is too late.
   */
  approve?: (
    request: ApprovalRequest,
  ) => ApprovalDecision | 'later' | Promise<ApprovalDecision | 'later'>;
  /** Progress with the audience `internal`, for logs; it is never among the events. */
  onInternal?: (event: ToolProgressEvent) => void;
  /**
   * Whether the model takes images in tool results, as `structured.images: { mediaType, data }[]` of
   * a result has them, `data` in base64, and how large. By the provider's name when absent. A session
   * shows up to 16 images or 16,000,000 characters of them; beyond that the last 8 or 8,000,000, and the
   * model reads which results lost theirs.
   */
  toolImages?: boolean | Partial<ImageLimits>;
  /** Makes images smaller that the model would not take, or would make smaller itself. */
  imageScaler?: ImageScaler;
  /** Settings of the model call: temperature, maxOutputTokens, providerOptions, … */
  modelSettings?: ModelSettings;
  /** Milliseconds since the epoch; `Date.now` when absent. */
  now?: () => number;
}

/** What is passed on to the model call as it is. */
export interface ModelSettings {
  /** The range is the provider's. */
  temperature?: number;
  /** From 0 to 1. */
  topP?: number;
  maxOutputTokens?: number;
  /** For providers that can repeat an answer. */
  seed?: number;
  headers?: Record<string, string>;
  providerOptions?: Record<string, Record<string, unknown>>;
}

/** That a session is held for the turn, as a worker holds it. */
export interface TurnClaim {
  /** Every record of the turn is stored only while the claim with this epoch holds. */
  readonly epoch: number;
  /**
   * Asked before each record, call and access of a tool, at once.
   * @throws `SESSION_TAKEN` once somebody else may hold the session
   */
  assertHeld(): void;
}

/** What a turn begins with. */
export interface TurnInput {
  sessionId: string;
  prompt: string;
  /**
   * Their names reach the model as JSON, cut at 200 characters, without `<`, `>`, `[`, `]`, `|` and
   * invisible characters.
   */
  attachments?: readonly TurnAttachment[];
  /**
   * Somebody else had a hand in the prompt, e.g. who wrote a mail that it quotes: calls with effects
   * need approval from the beginning.
   */
  untrusted?: boolean;
  abortSignal?: AbortSignal;
  /** Absent: the turn runs as long as nobody holds the session. */
  claim?: TurnClaim;
  /**
   * Stands for the turn in its session. With the key of a turn that is there already, that one is gone
   * on with; once it is over, all that comes is its `done`.
   */
  key?: string;
}

/** What a turn is gone on with. */
export interface ResumeInput {
  sessionId: string;
  abortSignal?: AbortSignal;
  /** As `TurnInput.claim`. */
  claim?: TurnClaim;
}

/**
 * Why a turn is over. After `failed` the session is `unfinished`, and `resume` goes on; after `paused`
 * it is `paused`; else `idle`. Calls that a limit stopped get an answer.
 *
 * - `answered`: without a call, also at a limit of tokens or cost. `message` says when a limit of output
 *   cut the answer off.
 * - `paused`: calls wait for `decide`.
 * - `aborted`: by the caller's signal, or `abandon`.
 * - `failed`: the model, the store or the configuration.
 * - `context_full`: what is never dropped does not fit the window; `message` says what to do.
 * - the others: a limit of `AgentLimits`.
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
  /** Of them, what the provider read from its cache. */
  cachedInputTokens: number;
  /** Of them, what the provider wrote to its cache. Absent where that is nothing. */
  cacheWriteInputTokens?: number;
  outputTokens: number;
  /** US dollars of the model, where there are prices, and of the tools. */
  costUsd: number;
}

/**
 * What happens in a turn, in order. Every turn ends with `done`, unless the loop is closed. Every
 * `tool_end` has a `tool_start`, except for a call that a dead process had begun. The turn waits until
 * the reader takes an event, until `limits.maxMs` or an abort; the events stay for the reader. If the
 * reader is slow, the oldest progress events are dropped.
 */
export type AgentEvent =
  | { type: 'start'; sessionId: string; turn: number; resumed: boolean }
  | { type: 'step'; step: number }
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  /** What came since the last `step` is void: the model is asked again. */
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
  /** The history was made shorter. Tokens are estimates of the whole prompt. */
  | {
      type: 'context';
      /** Results that were cleared. */
      cleared: number;
      /** Whether what is oldest was summed up. */
      summarised: boolean;
      tokensBefore: number;
      tokensAfter: number;
    }
  /** After each step: what the turn has used so far, and what this step did. */
  | { type: 'usage'; step: AgentUsage; turn: AgentUsage }
  /** Something went wrong, and the turn ends or goes on, as `done` says. */
  | { type: 'error'; error: EthosError }
  | {
      type: 'done';
      end: TurnEnd;
      /** The last answer. */
      text: string;
      turn: number;
      steps: number;
      calls: number;
      usage: AgentUsage;
      /** For a person: which limit, and how to go on. */
      message?: string;
      /** Why, when it failed. */
      error?: EthosError;
      /** Those that the turn waits for, when it is paused. */
      approvals: PendingApproval[];
    };

/** How a session stands. */
export type SessionState =
  /** A new turn can begin. */
  | 'idle'
  /** `resume` goes on with its last turn, or does what was approved. */
  | 'unfinished'
  /** Calls wait for `decide`. */
  | 'paused';
