import { errorText, shorten } from '@ethosagent/policy';
import { type AnyTool, type ApprovalFacts, errorCodeOf } from '@ethosagent/types';
import { decisionProblem } from '../approval.js';
import type { SecretRedactor } from '../results/redact.js';
import type { TurnGate } from '../turn-host.js';
import { type Ending, guarded } from './guarded.js';
import type { Watch } from './watch.js';

const MAX_REASON_CHARS = 2_000;
const UNCONFINED = 'the tool is a function from elsewhere, which nothing bounds or audits';
/** What a model is told of a call that a fault of the host keeps from running. */
export const NOT_RUN = 'so it did not run; go on without it, and tell the user';
const FOR_THESE = 'the tool requires approval for these arguments';

interface AskedTool {
  facts: ApprovalFacts;
  watch: Watch;
  timeoutMs: number;
  /** Takes secrets that the arguments may hold out of the reason. */
  redactor: SecretRedactor | undefined;
}

/** Why a call must be approved, or `undefined`. A check that throws or takes too long asks. */
export function approvalReason(
  tool: AnyTool,
  args: unknown,
  { facts, watch, timeoutMs, redactor }: AskedTool,
): string | undefined | Promise<string | undefined> {
  const { requiresApproval } = tool;
  if (requiresApproval === undefined && tool.unconfined === true) return UNCONFINED;
  if (requiresApproval === undefined || requiresApproval === false) return undefined;
  if (requiresApproval === true) return 'the tool always requires approval';
  const ending = guarded(watch, timeoutMs, () => requiresApproval(args, facts));
  return ending instanceof Promise
    ? ending.then((ended) => reasonOf(ended, redactor))
    : reasonOf(ending, redactor);
}

function reasonOf(
  ending: Ending<unknown>,
  redactor: SecretRedactor | undefined,
): string | undefined {
  if (ending.kind === 'stopped') {
    return 'the tool did not decide in time whether it requires approval';
  }
  if (ending.kind === 'threw') {
    return `the tool could not decide whether it requires approval (${errorText(ending.error)})`;
  }
  const needed = ending.value;
  if (needed === false) return undefined;
  if (typeof needed !== 'string' || needed === '') return FOR_THESE;
  // First the secrets: of one that is cut, the beginning would not be found.
  return shortReason(redactor?.redactToBudget(needed, 2 * MAX_REASON_CHARS) ?? needed);
}

/** A reason as the person who decides reads it. */
export function shownReason(reason: string): string {
  return reason === '' ? FOR_THESE : shortReason(reason);
}

/** A person has to read the reason, and it may contain arguments of any length. */
function shortReason(reason: string): string {
  return shorten(reason, MAX_REASON_CHARS);
}

/**
 * Why a decision is a refusal, or `undefined` for consent. Consent is `true`, or an object with
 * `approved: true` and no other arguments.
 */
export function refusal(decision: unknown): string | undefined {
  if (decision === true) return undefined;
  try {
    const problem = decisionProblem(decision);
    if (problem !== undefined) return `${problem}, ${NOT_RUN}`;
    const { approved, reason, args }: { approved?: unknown; reason?: unknown; args?: unknown } =
      Object(decision);
    if (approved === true && args === undefined) return undefined;
    if (approved === true)
      return `it was approved with changed arguments, which only a call in a session can take, ${NOT_RUN}`;
    return typeof reason === 'string' ? `it was refused: ${reason}` : 'it was refused';
  } catch {
    return `the decision can not be read, ${NOT_RUN}`;
  }
}

/**
 * What the owner of the turn says of a call. If it throws or gives something invalid, the call is
 * refused.
 */
export function turnGate(ask: () => TurnGate | undefined): TurnGate | undefined {
  try {
    const gate: unknown = ask();
    if (gate === undefined) return undefined;
    const { ask: reason, refuse, cause }: Record<string, unknown> = Object(gate);
    if (typeof refuse === 'string') {
      const code = errorCodeOf({ code: cause });
      return code === undefined ? { refuse } : { refuse, cause: code };
    }
    if (typeof reason === 'string') return { ask: shownReason(reason) };
    return { refuse: `the turn could not decide whether the call may run, ${NOT_RUN}` };
  } catch (error) {
    const why = `the turn could not decide whether the call may run (${errorText(error)})`;
    return { refuse: `${why}, ${NOT_RUN}` };
  }
}

/** Joins two reasons; `undefined` when there is neither. */
export function joined(first: string | undefined, second: string | undefined): string | undefined {
  return first !== undefined && second !== undefined ? `${first}; ${second}` : (first ?? second);
}
