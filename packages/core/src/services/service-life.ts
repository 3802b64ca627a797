import { type AuditEvent, CapabilityError, type ServiceDenial } from '@ethosagent/types';
import { type Access, type CallJournal, CallScope } from '../call-scope.js';
import type { Taint } from '../call-taint.js';
import type { SecretRedactor } from '../results/redact.js';

/** Denials that are kept for whoever explains a failure; the audit has them all. */
const MAX_DENIALS = 20;

export interface ServiceLifeOptions {
  name: string;
  id: string;
  /** Where those that it resolves are added; the journal has them, too. */
  secrets: SecretRedactor;
  taint: Taint;
}

/** The life of a service, which is to its accessors what that of a call is to the call's. */
export class ServiceLife extends CallScope {
  readonly #name: string;
  readonly #secrets: SecretRedactor;
  readonly #denials: ServiceDenial[] = [];

  /**
   * @param opener the call that opened it, whose secrets are also its own
   */
  constructor(
    journal: CallJournal,
    { name, id, secrets, taint }: ServiceLifeOptions,
    opener?: CallScope,
  ) {
    super(journal, { toolName: name, toolCallId: id, parent: opener, taint });
    this.#name = name;
    this.#secrets = secrets;
  }

  override addSecret(ref: string, value: string): void {
    this.#secrets.add(ref, value);
  }

  /** What was refused so far, without secrets. */
  get denials(): ServiceDenial[] {
    return this.#denials.map((denial) => ({ ...denial }));
  }

  override record(access: Access): AuditEvent | undefined {
    const { capability, decision, reason } = access;
    if (decision === 'denied' && this.#denials.length < MAX_DENIALS) {
      const target = this.redactor?.redact(access.target) ?? access.target;
      const isKnown = this.#denials.some(
        (known) => known.capability === capability && known.target === target,
      );
      if (!isKnown) this.#denials.push({ capability, target, reason });
    }
    return super.record(access);
  }

  /** @throws `CALL_ENDED` after the end of the service */
  override assertLive(): void {
    if (!this.ended) return;
    throw new CapabilityError(
      'CALL_ENDED',
      `${this.#name} used an accessor after its service had ended; open the service again`,
      'service ended',
    );
  }

  /** Ends it; what runs on its behalf is told why. */
  endBecause(reason: string): void {
    this.abort(new CapabilityError('CALL_ENDED', reason, 'service ended'));
    this.end();
  }
}
