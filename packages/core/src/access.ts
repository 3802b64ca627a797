import { unawaited } from '@ethosagent/policy';
import { type AuditEvent, BoundaryError, CapabilityError, errorCodeOf } from '@ethosagent/types';
import type { Access, CallScope } from './call-scope.js';

/**
 * What an accessor needs of the call that it serves. An accessor that is used by hand has no scope:
 * nothing is recorded, and it never ends.
 */
export type AccessScope = Pick<
  CallScope,
  | 'signal'
  | 'record'
  | 'complete'
  | 'assertLive'
  | 'onEnd'
  | 'addSecret'
  | 'redactor'
  | 'spend'
  | 'spendAll'
  | 'spendTime'
  | 'capsNetwork'
  | 'capsStore'
  | 'spendStore'
  | 'taint'
  | 'isDryRun'
  | 'isExplained'
  | 'explainBy'
>;

export interface AccessAsked extends Pick<Access, 'capability' | 'operation' | 'target' | 'basis'> {
  /**
   * The rule that allows the access, if there is one. `rule` and `basis` may be set until `allow`
   * is called.
   */
  rule?: string;
}

/**
 * Called once the access is allowed, and before its effect.
 * @param take takes what the effect uses up of the quotas; if it throws, the access is denied with
 * that error
 */
export type Allow = (take?: () => void) => void;

/**
 * Runs an access that is decided while it runs, and reports it exactly once: as denied when `run`
 * throws a denial, otherwise as allowed. `run` calls `allow` before an effect. `allow` throws when
 * the access can't be recorded or the call has ended, so the effect does not happen.
 */
export function recordAccess<T>(
  scope: AccessScope | undefined,
  access: AccessAsked,
  run: (allow: Allow) => Promise<T>,
): Promise<T> {
  return unawaited(scope === undefined ? run(() => {}) : recorded(scope, access, run));
}

async function recorded<T>(
  scope: AccessScope,
  access: AccessAsked,
  run: (allow: Allow) => Promise<T>,
): Promise<T> {
  const startedAt = scope.isExplained ? performance.now() : 0;
  let event: AuditEvent | undefined;
  let reported = false;
  const report = (decision: Access['decision'], reason: string) => {
    if (reported) return;
    reported = true;
    const { capability, operation, target, basis } = access;
    event = scope.record({ capability, operation, target, decision, reason, basis });
  };
  const reportAllowed = () => report('allowed', access.rule ?? 'inside the reach');
  // The access may have waited until its call ended. Then its effect must not begin.
  const allow: Allow = (take) => {
    scope.assertLive();
    take?.();
    reportAllowed();
  };
  try {
    scope.assertLive();
    // Whatever the tool makes of a dry run.
    if (scope.isDryRun && access.capability === 'fs_reach.write') {
      throw new BoundaryError('write', access.target, 'dry run');
    }
    const result = await run(allow);
    reportAllowed();
    return result;
  } catch (error) {
    const rule = denialRule(error);
    if (rule === undefined) reportAllowed();
    else report('denied', rule);
    throw error;
  } finally {
    scope.complete(event, startedAt);
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

/**
 * What a caller named, as text for the journal and for errors. Its type promises a string, but it
 * may be anything.
 */
export function textOf(named: unknown): string {
  if (typeof named === 'string') return named;
  // An object from the arguments may have no text, or throw when it is converted.
  return Object(named) === named ? 'an object' : String(named);
}

/** The rule by which an access was denied; `undefined` for a failure of an allowed one. */
export function denialRule(error: unknown): string | undefined {
  if (error instanceof CapabilityError) return error.rule;
  return errorCodeOf(error) === 'PATH_INVALID' ? 'malformed path' : undefined;
}
