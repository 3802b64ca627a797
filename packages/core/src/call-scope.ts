import { setMaxListeners } from 'node:events';
import { discard, isThenable, shorten } from '@ethosagent/policy';
import {
  type AuditEvent,
  type AuditSink,
  type AuditWhy,
  CapabilityError,
  type CapabilityName,
} from '@ethosagent/types';
import type { Taint } from './call-taint.js';
import type { CallQuotas } from './quotas/call-quotas.js';
import type { CountedQuota } from './quotas/meter.js';
import type { Settle } from './quotas/store-meter.js';
import { joinedRedactors, SecretRedactor } from './results/redact.js';

/** What decided an access, as the decision reports it. */
export interface AccessBasis {
  /** The entry of the reach that covers the target: a root, a host pattern, a ref, a binary. */
  covers?: string;
  /** What to look up in the reach. If there are several, all must be covered. */
  asked?: readonly string[];
  /** The entries of the operator's host lists: `allow` allowed the access, `deny` denied it. */
  allow?: string;
  deny?: string;
  /** Set if `allow_private_urls` opened the address. */
  privateUrls?: true;
}

/** Says which parts of a declaration and of a policy decided an access. */
export type ExplainAccess = (access: Access) => AuditWhy | undefined;

export interface Access {
  capability: CapabilityName;
  operation: string;
  target: string;
  decision: 'allowed' | 'denied';
  /** The rule that decided the access. */
  reason: string;
  basis?: AccessBasis | undefined;
}

// The length of the longest possible path. Longer targets would let a tool push older events out of
// a sink that rotates.
const MAX_TARGET_CHARS = 4096;

/** Who makes the calls, and where their accesses are recorded. All calls of a batch share it. */
export interface CallJournal {
  readonly sessionId: string;
  readonly personalityId: string | undefined;
  readonly audit: AuditSink | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Throws once another process may hold the session. Called before each access. */
  readonly assertOwned?: (() => void) | undefined;
  /** The turn of the calls; absent outside a turn. */
  readonly turn?: { readonly aborted: boolean } | undefined;
  /**
   * The secrets of services that are open beside the calls, and of a call that makes these calls.
   * They are redacted from the results of all calls.
   */
  readonly secrets?: () => SecretRedactor | undefined;
}

const nothing = () => {};

/** What a scope belongs to. */
export interface ScopedCall {
  toolName: string;
  toolCallId: string;
  /** For a scope that outlives its call: that call. Its secrets are also redacted here. */
  parent?: Pick<CallScope, 'redactor' | 'explain'> | undefined;
  taint?: Taint | undefined;
  isDryRun?: boolean;
}

/**
 * The life of one call: its abort signal, the secrets that it resolved, its quotas, what to undo
 * when it ends, and its lines in the journal. The accessors of a call refer to its scope, and stop
 * working when it ends.
 */
export class CallScope {
  readonly #journal: CallJournal;
  readonly #toolName: string;
  readonly #toolCallId: string;
  readonly #parent: Pick<CallScope, 'redactor' | 'explain'> | undefined;
  #explain: ExplainAccess | undefined;
  readonly taint: Taint | undefined;
  /** Whether the call may change no file through its accessors. */
  readonly isDryRun: boolean;
  #controller: AbortController | undefined;
  #abortReason: unknown;
  #aborted = false;
  #ended = false;
  #redactor: SecretRedactor | undefined;
  #quotas: CallQuotas | undefined;
  #onEnd: Array<() => void> | undefined;

  constructor(
    journal: CallJournal,
    { toolName, toolCallId, parent, taint, isDryRun = false }: ScopedCall,
  ) {
    this.isDryRun = isDryRun;
    this.#parent = parent;
    this.#journal = journal;
    this.#toolName = toolName;
    this.#toolCallId = toolCallId;
    this.taint = taint;
  }

  /** Created at the first use: a signal costs more than everything else in a call. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      // Every process and request of the call may add a listener, and Node warns of a leak from the
      // eleventh on.
      setMaxListeners(0, this.#controller.signal);
      if (this.#ended) this.#controller.abort(this.#abortReason ?? callEnded());
      else if (this.#aborted) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** The secrets that this call resolved; `undefined` if there are none. */
  get redactor(): SecretRedactor | undefined {
    const own = joinedRedactors(this.#redactor, this.#parent?.redactor);
    return joinedRedactors(own, this.#journal.secrets?.());
  }

  /** Explains the accesses of the call. Only called when somebody receives the explanation. */
  get explain(): ExplainAccess | undefined {
    return this.#explain ?? this.#parent?.explain;
  }

  /** Whether somebody receives explanations of its accesses. */
  get isExplained(): boolean {
    return this.#journal.audit !== undefined;
  }

  explainBy(explain: ExplainAccess): void {
    this.#explain = explain;
  }

  addSecret(ref: string, value: string): void {
    this.#redactor ??= new SecretRedactor();
    this.#redactor.add(ref, value);
  }

  /** Redacts the present secrets of another call here as well. */
  addSecretsOf(redactor: SecretRedactor): void {
    this.#redactor = joinedRedactors(this.#redactor, redactor);
  }

  /** Holds the call to quotas. A call without quotas does no work when it spends. */
  limit(quotas: CallQuotas): void {
    this.#quotas = quotas;
  }

  /**
   * Takes an amount of a quota, right before the effect that uses it up.
   * @throws `QUOTA_EXCEEDED`, and nothing is taken
   */
  spend(quota: CountedQuota, amount: number): void {
    this.#quotas?.spend(quota, amount);
  }

  /** As `spend`, for several quotas: takes all of them, or nothing. */
  spendAll(amounts: Partial<Record<CountedQuota, number>>): void {
    this.#quotas?.spendAll(amounts);
  }

  /**
   * Counts the time of one process until the returned function is called.
   *
   * @param onOver called once, if `process_seconds` is used up before that
   * @throws `QUOTA_EXCEEDED` when nothing is left
   */
  spendTime(onOver: (error: Error) => void): () => void {
    return this.#quotas === undefined ? nothing : this.#quotas.spendTime(onOver);
  }

  /** Whether requests must `spend`. */
  get capsNetwork(): boolean {
    return this.#quotas?.capsNetwork === true;
  }

  /** Whether writes to key-value stores must `spendStore`. */
  get capsStore(): boolean {
    return this.#quotas?.capsStore === true;
  }

  /**
   * Takes room for a key-value entry, right before it is written.
   *
   * @param id of the namespace and the key
   * @param bytes of the key and the value; 0 for a removal
   * @returns a function to call with the outcome of the write
   * @throws `QUOTA_EXCEEDED`, and nothing is taken
   */
  spendStore(id: string, bytes: number): Settle {
    return this.#quotas === undefined ? nothing : this.#quotas.spendStore(id, bytes);
  }

  /** Runs `undo` when the call ends, or at once if it has already ended. */
  onEnd(undo: () => void): void {
    if (this.#ended) {
      undo();
      return;
    }
    this.#onEnd ??= [];
    this.#onEnd.push(undo);
  }

  abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#abortReason = reason;
    this.#controller?.abort(reason);
  }

  /** Ends the call: aborts what still runs on its behalf and releases what it holds. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    // An error costs more than a call, so it is created only if somebody has asked for the signal.
    if (!this.#aborted) this.#controller?.abort(callEnded());
    const undo = this.#onEnd;
    this.#onEnd = undefined;
    for (const run of undo ?? []) {
      try {
        run();
      } catch {
        // One that fails must not keep the others from running, nor the batch from its answer.
      }
    }
  }

  /** @throws `CALL_ENDED` after the end of the call; `SESSION_TAKEN` once its session is lost */
  assertLive(): void {
    // What outlives its call also outlives the turn.
    const isOfTurn = this.#parent === undefined && this.#journal.turn?.aborted === true;
    if (!this.#ended && !isOfTurn) {
      this.#journal.assertOwned?.();
      return;
    }
    throw new CapabilityError(
      'CALL_ENDED',
      `${this.#toolName} used an accessor after its call had ended; await all work before returning`,
      'call ended',
    );
  }

  /**
   * Reports one access, even after the call has ended. The target is redacted first.
   * @returns the event, for `complete`; `undefined` where there is no sink
   * @throws `AUDIT_FAILED` when the sink or the clock of the host fails, so that nothing happens unrecorded
   */
  record(access: Access): AuditEvent | undefined {
    const { audit, sessionId, personalityId, now } = this.#journal;
    if (audit === undefined) return undefined;
    try {
      const why = this.explain?.(access);
      const event: AuditEvent = {
        time: new Date(now()).toISOString(),
        sessionId,
        ...(personalityId !== undefined && { personalityId }),
        toolName: this.#toolName,
        toolCallId: this.#toolCallId,
        capability: access.capability,
        operation: access.operation,
        target: shorten(this.redactor?.redact(access.target) ?? access.target, MAX_TARGET_CHARS),
        decision: access.decision,
        reason: access.reason,
        ...(why !== undefined && { why }),
      };
      const returned: unknown = audit.record(event);
      if (isThenable(returned)) {
        discard(returned);
        throw new TypeError('an audit sink records before it returns; this one returned a promise');
      }
      return event;
    } catch (cause) {
      throw new CapabilityError(
        'AUDIT_FAILED',
        'the access could not be recorded, so it did not happen; the operator has to fix the audit sink',
        'audit failed',
        { cause },
      );
    }
  }

  /**
   * Reports that a recorded access is complete. Never throws, since the access has already
   * happened.
   * @param startedAt in milliseconds of `performance.now()`
   */
  complete(event: AuditEvent | undefined, startedAt: number): void {
    const { audit } = this.#journal;
    if (event === undefined || audit?.completed === undefined) return;
    try {
      discard(audit.completed(event, Math.round(performance.now() - startedAt)));
    } catch {
      // The access has already happened.
    }
  }
}

function callEnded(): CapabilityError {
  return new CapabilityError('CALL_ENDED', 'the call has ended', 'call ended');
}
