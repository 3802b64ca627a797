import type { SessionBatchOptions, SessionResult } from '@ethosagent/core';
import type { OptionNames } from '@ethosagent/policy';

/** The options of calls of a session. */
export interface AnthropicCallOptions
  extends Pick<
    SessionBatchOptions,
    'attachments' | 'dryRun' | 'onProgress' | 'resultBudgetChars' | 'tools'
  > {
  /**
   * Called with each result before the model gets it. The result also contains what the model does
   * not read: structured data, cost, code and cause, and the approval that a call waits for. An
   * error that it throws is ignored.
   */
  onResult?: (result: SessionResult) => void;
}

/** The names of the options of calls. */
export const CALL_OPTIONS: OptionNames<AnthropicCallOptions> = {
  attachments: true,
  dryRun: true,
  onProgress: true,
  resultBudgetChars: true,
  tools: true,
  onResult: true,
};

/** Picks the batch options from the options of the caller. */
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
