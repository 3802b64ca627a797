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
import { SecretRedactor } from './results/redact.js';

/** What an access was decided by, as the decision knows it. */
export interface AccessBasis {
  /** The entry of the reach that covers the target: a root, a host pattern, a ref, a binary. */
  covers?: string;
  /** What is to be looked for in the reach: of several, all must be covered. */
  asked?: readonly string[];
  /** Of the operator's list of hosts: the entry that allows it, and the one that denies it. */
  allow?: string;
  deny?: string;
  /** `allow_private_urls` opened the address. */
  privateUrls?: true;
}

/** Says which parts of a declaration and of a policy an access went by. */
export type ExplainAccess = (access: Access) => AuditWhy | undefined;

/** What an accessor reports of one access. */
export interface Access {
  capability: CapabilityName;
  operation: string;
  target: string;
  decision: 'allowed' | 'denied';
  /** The rule that decided. */
  reason: string;
  basis?: AccessBasis | undefined;
}

// The longest path there is. More would let a tool push older events out of a sink that rotates.
const MAX_TARGET_CHARS = 4096;

/** Whose calls they are, and where their accesses are written down. One for all calls of a batch. */
export interface CallJournal {
  readonly sessionId: string;
  readonly personalityId: string | undefined;
  readonly audit: AuditSink | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Throws once somebody else may hold the session. Asked before each access. */
  readonly assertOwned?: (() => void) | undefined;
  /** The turn of the calls; absent where there is none. */
  readonly turn?: { readonly aborted: boolean } | undefined;
  /** Secrets of what is kept open beside the calls, which come out in none of them. */
  readonly secrets?: () => SecretRedactor | undefined;
}

const nothing = () => {};

/** Whose life a scope is. */
export interface ScopedCall {
  toolName: string;
  toolCallId: string;
  /** Of what outlives its call: the call, whose secrets are also its own. */
  parent?: Pick<CallScope, 'redactor' | 'explain'> | undefined;
  taint?: Taint | undefined;
}

/**
 * The life of one call: its abort signal, the secrets it resolved, its quotas, what to undo when it
 * ends, and its lines in the journal. Accessors hold on to it and are dead once it has ended.
 */
export class CallScope {
  readonly #journal: CallJournal;
  readonly #toolName: string;
  readonly #toolCallId: string;
  readonly #parent: Pick<CallScope, 'redactor' | 'explain'> | undefined;
  #explain: ExplainAccess | undefined;
  readonly taint: Taint | undefined;
  #controller: AbortController | undefined;
  #abortReason: unknown;
  #aborted = false;
  #ended = false;
  #redactor: SecretRedactor | undefined;
  #quotas: CallQuotas | undefined;
  #onEnd: Array<() => void> | undefined;

  constructor(journal: CallJournal, { toolName, toolCallId, parent, taint }: ScopedCall) {
    this.#parent = parent;
    this.#journal = journal;
    this.#toolName = toolName;
    this.#toolCallId = toolCallId;
    this.taint = taint;
  }

  /** Made when first asked for: a signal costs more than the rest of a call together. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      // Every process and request of the call may listen; Node warns of a leak from the eleventh on.
      setMaxListeners(0, this.#controller.signal);
      if (this.#ended) this.#controller.abort(this.#abortReason ?? callEnded());
      else if (this.#aborted) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Secrets that this call resolved, or `undefined` while there are none. */
  get redactor(): SecretRedactor | undefined {
    const own = joined(this.#redactor, this.#parent?.redactor);
    return joined(own, this.#journal.secrets?.());
  }

  /** What explains its accesses: asked only where somebody is told of them. */
  get explain(): ExplainAccess | undefined {
    return this.#explain ?? this.#parent?.explain;
  }

  /** Whether anybody is told of its accesses. */
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

  /** Holds the call to quotas. Without this, spending costs nothing. */
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

  /** The same of several quotas at once: all are taken, or none. */
  spendAll(amounts: Partial<Record<CountedQuota, number>>): void {
    this.#quotas?.spendAll(amounts);
  }

  /**
   * Counts the time of one process until the returned function is called.
   *
   * @param onOver called once, when `process_seconds` is used up meanwhile
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
   * @returns to be told how the write went
   * @throws `QUOTA_EXCEEDED`, and nothing is taken
   */
  spendStore(id: string, bytes: number): Settle {
    return this.#quotas === undefined ? nothing : this.#quotas.spendStore(id, bytes);
  }

  /** Runs `undo` when the call ends; at once when it has ended. */
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
    // An error costs more than a call: it is made for someone who listens.
    if (!this.#aborted) this.#controller?.abort(callEnded());
    const undo = this.#onEnd;
    this.#onEnd = undefined;
    for (const run of undo ?? []) {
      try {
        run();
      } catch {
        // One that fails must not keep the others from theirs, nor the batch from its answer.
      }
    }
  }

  /** @throws `CALL_ENDED` after the end of the call; `SESSION_TAKEN` once its session is lost */
  assertLive(): void {
    // What outlives its call is none of the turn's.
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
   * Reports one access, also one that outlived the call. The target is redacted first.
   * @returns the event, for `complete`; `undefined` where nobody is told
   * @throws `AUDIT_FAILED` when the sink throws, so that nothing happens unrecorded
   */
  record(access: Access): AuditEvent | undefined {
    const { audit, sessionId, personalityId, now } = this.#journal;
    if (audit === undefined) return undefined;
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
    try {
      const returned: unknown = audit.record(event);
      if (isThenable(returned)) {
        discard(returned);
        throw new TypeError('an audit sink records before it returns; this one returned a promise');
      }
    } catch (cause) {
      throw new CapabilityError(
        'AUDIT_FAILED',
        'the access could not be recorded; fix the audit sink and try again',
        'audit failed',
        { cause },
      );
    }
    return event;
  }

  /**
   * Reports that a recorded access is over. Never throws: the access has happened.
   * @param startedAt by `performance.now()`
   */
  complete(event: AuditEvent | undefined, startedAt: number): void {
    const { audit } = this.#journal;
    if (event === undefined || audit?.completed === undefined) return;
    try {
      discard(audit.completed(event, Math.round(performance.now() - startedAt)));
    } catch {
      // See above.
    }
  }
}

function joined(
  one: SecretRedactor | undefined,
  other: SecretRedactor | undefined,
): SecretRedactor | undefined {
  if (one === undefined || one === other) return other;
  return other === undefined ? one : new SecretRedactor(one, other);
}

function callEnded(): CapabilityError {
  return new CapabilityError('CALL_ENDED', 'the call has ended', 'call ended');
}
