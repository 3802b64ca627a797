import type { Batch } from './batch.js';

/** The session whose quotas the calls of a batch use up. */
export function sessionOfQuotas({ input, facts }: Batch): string {
  return input.host?.quotaSession ?? facts.sessionId;
}
