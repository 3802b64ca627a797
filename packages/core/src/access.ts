import { unawaited } from '@ethosagent/policy';
import { type AuditEvent, CapabilityError, errorCodeOf } from '@ethosagent/types';
import type { Access, CallScope } from './call-scope.js';

/**
 * What an accessor needs of the call that it serves. Absent for an accessor that is used by hand:
 * then nothing is recorded and nothing ends.
 */
export type AccessScope = Pick<
  CallScope,
  | 'signal'
  | 'record'
  | 'complete'
  | 'assertLive'
  | 'onEnd'
  | 'addSecret'
  | 'spend'
  | 'spendAll'
  | 'spendTime'
  | 'capsNetwork'
  | 'capsStore'
  | 'spendStore'
  | 'taint'
  | 'isExplained'
  | 'explainBy'
>;

/** An access before the decision. */
export interface AccessAsked extends Pick<Access, 'capability' | 'operation' | 'target' | 'basis'> {
  /** The rule that allows it, where one does. May be set, as `basis`, until the decision has fallen. */
  rule?: string;
}

/**
 * Called once the decision has fallen, and before an effect.
 * @param take takes what the effect uses up of the quotas; what it throws is the decision
 */
export type Allow = (take?: () => void) => void;

/**
 * Runs an access whose decision falls while it runs, and reports it exactly once: denied when a
 * denial comes out, allowed otherwise. `run` calls `allow` before an effect, so that one which can't
 * be recorded, or comes after the call, does not happen.
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
  const startedAt = performance.now();
  let event: AuditEvent | undefined;
  let reported = false;
  const report = (decision: Access['decision'], reason: string) => {
    if (reported) return;
    reported = true;
    const { capability, operation, target, basis } = access;
    event = scope.record({ capability, operation, target, decision, reason, basis });
  };
  const reportAllowed = () => report('allowed', access.rule ?? 'inside the reach');
  // What waited until its call was over must not begin any more.
  const allow: Allow = (take) => {
    scope.assertLive();
    take?.();
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

/** What a caller named, for the journal and for errors; it may be anything, whatever its type says. */
export function textOf(named: unknown): string {
  if (typeof named === 'string') return named;
  // An object that came from arguments may have no text, or throw for it.
  return Object(named) === named ? 'an object' : String(named);
}

/** The rule by which an access was denied; `undefined` for a failure of an allowed one. */
export function denialRule(error: unknown): string | undefined {
  if (error instanceof CapabilityError) return error.rule;
  return errorCodeOf(error) === 'PATH_INVALID' ? 'malformed path' : undefined;
}
