import type { GrantScope } from '@ethosagent/types';
import type { ResolvedGrant } from './capabilities/resolved-grant.js';

/** A call that waits for a decision. */
export interface ApprovalRequest {
  toolCallId: string;
  /** The id of the call that it comes from, where no model made it but a tool. */
  parentCallId?: string;
  toolName: string;
  /**
   * The arguments that will run, frozen. As the model issued them where the tool's schema makes
   * something of them that is not plain data.
   */
  args: unknown;
  /** What the call could reach. */
  capabilities: ResolvedGrant;
  /** Why it is asked. */
  reason: string;
  /** Why it is asked again: the arguments of the last answer can not run. */
  problem?: string;
  /** What the personality sets for the tool, frozen. */
  settings?: unknown;
  /** Where the tool anchors relative paths. */
  workingDir: string;
  sessionId: string;
  personalityId?: string;
  /** Fires when the answer is no longer wanted. */
  signal: AbortSignal;
}

/**
 * Yes or no, or no with a reason that the model gets to read. In a session a yes may come with other
 * arguments, and may hold for later calls.
 */
export type ApprovalDecision =
  | boolean
  | {
      approved: boolean;
      reason?: string;
      /** To run instead of those that were proposed. */
      args?: unknown;
      always?: GrantScope;
      /** Who decides, for the record. */
      by?: string;
      /** The id of the grant that answers. */
      grant?: string;
      /** The arguments are not those that the model gave. */
      edited?: boolean;
      /** When it was first asked, in milliseconds since the epoch, where it has waited since. */
      askedAt?: number;
      /** A no for now: the call waits in its session, and has no answer yet. */
      waits?: boolean;
    };
