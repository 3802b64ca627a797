import { createHash } from 'node:crypto';
import { toolDigest } from '@ethosagent/core';
import { canonicalJson } from '@ethosagent/policy';
import type { AnyTool, PersonalityConfig } from '@ethosagent/types';
import type { LoggedCall } from './journal/session-log.js';

/**
 * A digest of the tool and the policy under which a call runs. Recorded with the start of a call
 * that may run again; `undefined` for one that may not.
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
 * Whether an interrupted call runs again. It does if the same would run now. A call whose arguments
 * were changed by an approval does not: it would run with those of the model. Nor does one that has
 * made calls: those would run again too, and may not be idempotent.
 */
export function mayRunAgain(
  { started, under, edited, inner }: LoggedCall,
  tool: AnyTool | undefined,
  personality: PersonalityConfig,
): boolean {
  if (!started || under === undefined || edited !== undefined || inner !== undefined) return false;
  return under === runsUnder(tool, personality);
}
