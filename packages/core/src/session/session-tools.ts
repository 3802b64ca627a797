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

/** The tools of a session, as a runtime and `registryTools` of the agent loop have them. */
export interface SessionTools {
  /** The personality as it is now; the active one when no id is given. @throws `CONFIG_INVALID` */
  personality(id?: string): Promise<PersonalityConfig>;
  /** What the model is told. @throws `CONFIG_INVALID` */
  definitions(personality?: string): Promise<ToolDefinition[]>;
  /** A tool by its name, whether or not the personality has it. */
  tool(name: string): AnyTool | undefined;
  /** Runs a batch of calls; results are in the order of the calls, and nothing throws. */
  execute(calls: readonly ToolCall[], options: SessionToolsBatch): Promise<ToolCallResult[]>;
  /** Ends what tools left running in a session, and waits for it. */
  endSession?(sessionId: string): Promise<void>;
}

/** What a batch of a session has of its own. */
export interface SessionToolsBatch extends SessionIdentity {
  personality?: string;
  /** The names of the tools that it may use, of those that the personality has. */
  tools?: readonly string[];
  sessionId: string;
  /** The number of the turn, from 1. */
  currentTurn: number;
  messageCount: number;
  abortSignal: AbortSignal;
  resultBudgetChars: number;
  dryRun?: boolean;
  /** The session is what protects: nothing else asks or marks. */
  protections: 'none';
  attachments?: readonly TurnAttachment[];
  host: TurnHost;
}
