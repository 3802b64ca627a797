import { isObject, type OptionNames, unknownOption } from '@ethosagent/policy';
import type { GrantScope } from '@ethosagent/types';
import type { ResolvedGrant } from './capabilities/resolved-grant.js';

/** A call that waits for a decision. */
export interface ApprovalRequest {
  toolCallId: string;
  /** The id of the call whose tool made this call; absent if the model made it. */
  parentCallId?: string;
  toolName: string;
  /**
   * The arguments that will run, frozen. If the tool's schema turns them into something that is not
   * plain data, the arguments as the model issued them. Secrets of a tool that makes the call are
   * replaced.
   */
  args: unknown;
  /** What the call could reach. */
  capabilities: ResolvedGrant;
  /** The reason for the question. */
  reason: string;
  /** Why the question is asked again: the arguments of the last answer can't run. */
  problem?: string;
  /** What the personality sets for the tool, frozen. */
  settings?: unknown;
  /** The folder from which the tool resolves relative paths. */
  workingDir: string;
  sessionId: string;
  personalityId?: string;
  /** Fires when the answer is no longer wanted. */
  signal: AbortSignal;
}

/**
 * Yes, no, or no with a reason that the model gets to read. In a session, a yes may come with other
 * arguments, and may hold for later calls.
 */
export type ApprovalDecision =
  | boolean
  | {
      approved: boolean;
      reason?: string;
      /** Arguments that run instead of the proposed ones. */
      args?: unknown;
      always?: GrantScope;
      /** Who decides, for the record. */
      by?: string;
      /** The id of the grant that gave the answer. */
      grant?: string;
      /** Whether the arguments differ from those of the model. */
      edited?: boolean;
      /**
       * When the call was first asked about, in milliseconds since the epoch, if it has waited
       * since then.
       */
      askedAt?: number;
      /** A no for now: the call waits in its session, and has no answer yet. */
      waits?: boolean;
    };

const DECISION: OptionNames<Exclude<ApprovalDecision, boolean>> = {
  approved: true,
  reason: true,
  args: true,
  always: true,
  by: true,
  grant: true,
  edited: true,
  askedAt: true,
  waits: true,
};

/**
 * Why an answer is neither a yes nor a no: it has another shape, or a key that there is not, since a
 * misspelt `args` would approve the arguments of the model.
 */
export function decisionProblem(said: unknown): string | undefined {
  if (typeof said === 'boolean') return undefined;
  const problem = isObject(said) ? objectProblem(said) : `it is ${told(said)}; ${GIVE}`;
  return problem && `the decision does not count: ${problem}`;
}

const GIVE = 'give { approved: true } or { approved: false }';

function objectProblem(said: { approved?: unknown }): string | undefined {
  const isSaid = typeof said.approved === 'boolean';
  const problem = isSaid ? undefined : `\`approved\` is neither true nor false; ${GIVE}`;
  return unknownOption(said, DECISION) ?? problem;
}

function told(said: unknown): string {
  return said === undefined ? 'undefined, as after a forgotten `return`' : `of type ${typeof said}`;
}
