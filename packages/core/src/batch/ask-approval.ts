import type { AnyTool } from '@ethosagent/types';
import { discard } from '../rejections.js';
import { errorText } from '../results/error-text.js';

/** Why a call must be approved, or `undefined`. A check that throws asks. */
export function approvalReason(tool: AnyTool, args: unknown): string | undefined {
  const { requiresApproval } = tool;
  if (requiresApproval === undefined || requiresApproval === false) return undefined;
  if (requiresApproval === true) return 'the tool always requires approval';
  try {
    const needed: unknown = requiresApproval(args);
    discard(needed);
    return needed === false ? undefined : 'the tool requires approval for these arguments';
  } catch (error) {
    return `the tool could not decide whether it requires approval (${errorText(error)})`;
  }
}

/** Why a decision is a refusal, or `undefined` for consent. Only a clear yes is one. */
export function refusal(decision: unknown): string | undefined {
  if (decision === true) return undefined;
  try {
    if (typeof decision !== 'object' || decision === null) return 'it was refused';
    const { approved, reason }: { approved?: unknown; reason?: unknown } = decision;
    if (approved === true) return undefined;
    return typeof reason === 'string' ? `it was refused: ${reason}` : 'it was refused';
  } catch {
    return 'the decision can not be read';
  }
}
