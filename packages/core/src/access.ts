import { CapabilityError, errorCodeOf } from '@ethosagent/types';
import type { Access, CallScope } from './call-scope.js';
import { unawaited } from './rejections.js';

/**
 * What an accessor needs of the call that it serves. Absent for an accessor that is used by hand:
 * then nothing is recorded and nothing ends.
 */
export type AccessScope = Pick<
  CallScope,
  'signal' | 'record' | 'assertLive' | 'onEnd' | 'addSecret'
>;

/** An access before the decision. */
export type AccessAsked = Pick<Access, 'capability' | 'operation' | 'target'>;

/**
 * Runs an access whose decision falls while it runs, and reports it exactly once: denied when a
 * denial comes out, allowed otherwise. `run` calls `allow` once the decision has fallen and before
 * an effect, so that an effect which can't be recorded, or comes after the call, does not happen.
 */
export function recordAccess<T>(
  scope: AccessScope | undefined,
  access: AccessAsked,
  run: (allow: () => void) => Promise<T>,
): Promise<T> {
  return unawaited(scope === undefined ? run(() => {}) : recorded(scope, access, run));
}

async function recorded<T>(
  scope: AccessScope,
  access: AccessAsked,
  run: (allow: () => void) => Promise<T>,
): Promise<T> {
  let reported = false;
  const report = (decision: Access['decision'], reason: string) => {
    if (reported) return;
    reported = true;
    scope.record({ ...access, decision, reason });
  };
  const reportAllowed = () => report('allowed', 'inside the reach');
  // What waited until its call was over must not begin any more.
  const allow = () => {
    scope.assertLive();
    reportAllowed();
  };
  try {
    scope.assertLive();
    const result = await run(allow);
    reportAllowed();
    return result;
  } catch (error) {
    const rule = denialRule(error);
    if (rule === undefined) reportAllowed();
    else report('denied', rule);
    throw error;
  }
}

/** @throws `CALL_ENDED`, after it has been reported */
export function assertLive(scope: AccessScope, access: AccessAsked): void {
  try {
    scope.assertLive();
  } catch (error) {
    scope.record({ ...access, decision: 'denied', reason: denialRule(error) ?? 'call ended' });
    throw error;
  }
}

function denialRule(error: unknown): string | undefined {
  if (error instanceof CapabilityError) return error.rule;
  return errorCodeOf(error) === 'PATH_INVALID' ? 'malformed path' : undefined;
}
