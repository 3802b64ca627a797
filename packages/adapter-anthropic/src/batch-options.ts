import type { SessionBatchOptions, SessionResult } from '@ethosagent/core';

/** What calls of a session have of their own. */
export interface AnthropicCallOptions
  extends Pick<
    SessionBatchOptions,
    'attachments' | 'dryRun' | 'onProgress' | 'resultBudgetChars' | 'tools'
  > {
  /**
   * Told of each result before the model is, with what the model does not read: structured data,
   * cost, code and cause, and the approval that a call waits for. What it throws is ignored.
   */
  onResult?: (result: SessionResult) => void;
}

/** The batch options among the options of the caller. */
export function batchOptions(
  { attachments, dryRun, onProgress, resultBudgetChars, tools }: AnthropicCallOptions,
  signal: AbortSignal | null | undefined,
): SessionBatchOptions {
  return {
    ...(attachments !== undefined && { attachments }),
    ...(dryRun !== undefined && { dryRun }),
    ...(onProgress !== undefined && { onProgress }),
    ...(resultBudgetChars !== undefined && { resultBudgetChars }),
    ...(tools !== undefined && { tools }),
    ...(signal != null && { abortSignal: signal }),
  };
}
