import { EthosError } from '@ethosagent/types';
import { type ApprovalDecision, type ApprovalRequest, decisionProblem } from '../approval.js';
import type { CallDecision } from './session-api.js';

/** A host's decision on a call that needs approval. */
export type AskHost = (
  request: ApprovalRequest,
) => ApprovalDecision | 'later' | Promise<ApprovalDecision | 'later'>;

/**
 * Asks the host about a call.
 *
 * @param approve the callback of the host
 * @param request what is asked
 * @returns `later` without a host; `false` without asking anybody if the call is aborted already
 * @throws `APPROVAL_INVALID` for an answer that is no decision, or has a key that there is not
 */
export async function answerOfHost(
  approve: AskHost | undefined,
  request: ApprovalRequest,
): Promise<ApprovalDecision | 'later'> {
  if (approve === undefined) return 'later';
  if (request.signal.aborted) return false;
  const said = await approve(request);
  const problem = said === 'later' ? undefined : decisionProblem(said);
  if (problem !== undefined) throw new EthosError('APPROVAL_INVALID', problem);
  return said;
}

/** Returns a decision as an answer of the host to the registry. */
export function asDecision({
  approved,
  reason,
  args,
  by,
}: CallDecision): Exclude<ApprovalDecision, boolean> {
  return {
    approved,
    ...(reason !== undefined && { reason }),
    ...(by !== undefined && { by }),
    ...(args !== undefined && { edited: true }),
  };
}

/** Returns an answer of the host as a decision; `undefined` if the answer comes later. */
export function decisionOf(said: ApprovalDecision | 'later'): CallDecision | undefined {
  if (said === 'later') return undefined;
  return typeof said === 'boolean' ? { approved: said } : { ...said };
}

/** An approval with other arguments, or one that holds for more than this call. */
export function extraOf(said: ApprovalDecision | 'later'): CallDecision | undefined {
  if (typeof said !== 'object' || said === null || said.approved !== true) return undefined;
  return said.args !== undefined || said.always !== undefined ? { ...said } : undefined;
}
