import { isLedgerSession } from '@ethosagent/core';
import { EthosError } from '@ethosagent/types';
import type { SessionOptions } from './runtime-api.js';

const LIMITS = ['maxCalls', 'maxCostUsd', 'resultBudgetChars'];
const OPTIONS = ['personality', 'approve', 'identity', 'limits', 'images'];

/**
 * Refuses unknown options, since a misspelt option would protect nothing. @throws `CONFIG_INVALID`
 */
export function assertSession(id: unknown, options: SessionOptions): void {
  assertSessionId(id);
  assertKeys('session', options, OPTIONS);
  const { approve, limits = {} } = options;
  if (approve !== undefined && typeof approve !== 'function') {
    throw invalid('approve is not a function');
  }
  assertKeys('limits', limits, LIMITS);
  for (const [name, limit] of Object.entries(limits)) {
    if (typeof limit === 'number' && limit > 0) continue;
    throw invalid(`limits.${name} is ${limit}; give a number above zero`);
  }
}

function assertKeys(what: string, options: object, known: readonly string[]): void {
  const strange = Object.keys(options).find((key) => !known.includes(key));
  if (strange === undefined) return;
  throw invalid(`${what}.${strange} is no option; there are ${known.join(', ')}`);
}

function invalid(problem: string): EthosError {
  return new EthosError('CONFIG_INVALID', problem);
}

/** @throws `CONFIG_INVALID` */
export function assertSessionId(id: unknown): asserts id is string {
  if (typeof id === 'string' && id !== '' && id.isWellFormed() && !isLedgerSession(id)) return;
  const shown = typeof id === 'string' ? JSON.stringify(id) : `of type ${typeof id}`;
  throw invalid(`the session id ${shown} can not be one; give another text`);
}
