import { createHash } from 'node:crypto';
import { toolDigest } from '@ethosagent/core';
import { canonicalJson } from '@ethosagent/policy';
import type { AnyTool, PersonalityConfig } from '@ethosagent/types';
import type { LoggedCall } from './journal/session-log.js';

/**
 * Stands for the tool and the policy that a call runs under. Written down with the begin of a call that
 * may run again; `undefined` for one that may not.
 */
export function runsUnder(
  tool: AnyTool | undefined,
  personality: PersonalityConfig,
): string | undefined {
  if (tool?.idempotent !== true) return undefined;
  const facts = canonicalJson([toolDigest(tool), personality]);
  return createHash('sha256').update(facts).digest('base64url');
}

/**
 * Whether a call that was interrupted runs once more: what was begun is what would run. A call whose
 * arguments were changed by an approval would begin with those that the model gave.
 */
export function mayRunAgain(
  { started, under, edited }: LoggedCall,
  tool: AnyTool | undefined,
  personality: PersonalityConfig,
): boolean {
  if (!started || under === undefined || edited !== undefined) return false;
  return under === runsUnder(tool, personality);
}
