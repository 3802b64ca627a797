import type { ApprovalDecision, ApprovalRequest } from '../approval.js';
import type { CallDecision } from './session-api.js';

/** A host's decision on a call that needs approval. */
export type AskHost = (
  request: ApprovalRequest,
) => ApprovalDecision | 'later' | Promise<ApprovalDecision | 'later'>;

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
