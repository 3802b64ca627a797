import { type AuditEvent, CapabilityError, type ServiceDenial } from '@ethosagent/types';
import { type Access, type CallJournal, CallScope } from '../call-scope.js';
import type { Taint } from '../call-taint.js';
import type { SecretRedactor } from '../results/redact.js';

/** How many denials are kept to explain a failure. The audit has all of them. */
const MAX_DENIALS = 20;

export interface ServiceLifeOptions {
  name: string;
  id: string;
  /** The secrets that the service resolves are added here. The journal uses the same redactor. */
  secrets: SecretRedactor;
  taint: Taint;
  /** Throws once another process may hold the session of the service. */
  assertOwned: () => void;
}

/** The life of a service. Its accessors use it as those of a call use the call's scope. */
export class ServiceLife extends CallScope {
  readonly #name: string;
  readonly #secrets: SecretRedactor;
  readonly #assertOwned: () => void;
  /** By capability and target, the one that was refused last at the end. */
  readonly #denials = new Map<string, ServiceDenial>();

  /** @param opener the call that opened the service; its secrets are also redacted here */
  constructor(
    journal: CallJournal,
    { name, id, secrets, taint, assertOwned }: ServiceLifeOptions,
    opener?: CallScope,
  ) {
    super(journal, { toolName: name, toolCallId: id, parent: opener, taint });
    this.#name = name;
    this.#secrets = secrets;
    this.#assertOwned = assertOwned;
  }

  override addSecret(ref: string, value: string): void {
    this.#secrets.add(ref, value);
  }

  /** What was denied last, without secrets. */
  get denials(): ServiceDenial[] {
    return [...this.#denials.values()];
  }

  override record(access: Access): AuditEvent | undefined {
    const { capability, decision, reason } = access;
    if (decision === 'denied') {
      const target = this.redactor?.redact(access.target) ?? access.target;
      const key = JSON.stringify([capability, target]);
      this.#denials.delete(key);
      this.#denials.set(key, Object.freeze({ capability, target, reason }));
      const [oldest] = this.#denials.keys();
      if (this.#denials.size > MAX_DENIALS && oldest !== undefined) this.#denials.delete(oldest);
    }
    return super.record(access);
  }

  /** @throws `CALL_ENDED` after the end of the service; `SESSION_TAKEN` once its session is lost */
  override assertLive(): void {
    if (!this.ended) {
      this.#assertOwned();
      return;
    }
    throw new CapabilityError(
      'CALL_ENDED',
      `${this.#name} used an accessor after its service had ended; open the service again`,
      'service ended',
    );
  }

  /** Ends the service, and gives the reason to what still runs for it. */
  endBecause(reason: string): void {
    this.abort(new CapabilityError('CALL_ENDED', reason, 'service ended'));
    this.end();
  }
}
