import type {
  AnyTool,
  PersonalityConfig,
  ToolCall,
  ToolCallResult,
  ToolDefinition,
  TurnAttachment,
} from '@ethosagent/types';
import type { TurnHost } from '../turn-host.js';
import type { SessionIdentity } from './session-api.js';

/** The tools of a session, as a runtime and `registryTools` of the agent loop provide them. */
export interface SessionTools {
  /**
   * The id of the active personality. With it, calls can be refused and turns abandoned while the
   * file of that personality can't be read.
   */
  readonly personalityId?: string;
  /** The present personality; without an id, the active one. @throws `CONFIG_INVALID` */
  personality(id?: string): Promise<PersonalityConfig>;
  /** The tools that the model is offered. @throws `CONFIG_INVALID` */
  definitions(personality?: string): Promise<ToolDefinition[]>;
  /** A tool by its name, whether or not the personality has it. */
  tool(name: string): AnyTool | undefined;
  /** Runs a batch of calls; results are in the order of the calls, and nothing throws. */
  execute(calls: readonly ToolCall[], options: SessionToolsBatch): Promise<ToolCallResult[]>;
  /** Ends what tools left running in a session, and waits for its end. */
  endSession?(sessionId: string): Promise<void>;
}

/** The options of one batch of a session. */
export interface SessionToolsBatch extends SessionIdentity {
  personality?: string;
  /** The names of the tools that it may use, out of those of the personality. */
  tools?: readonly string[];
  sessionId: string;
  /** The number of the turn, from 1. */
  currentTurn: number;
  messageCount: number;
  abortSignal: AbortSignal;
  resultBudgetChars: number;
  dryRun?: boolean;
  /** The session itself protects: nothing else asks or marks. */
  protections: 'none';
  attachments?: readonly TurnAttachment[];
  host: TurnHost;
}
