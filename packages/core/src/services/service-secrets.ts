import type { ServiceOwner } from '@ethosagent/types';
import { SecretRedactor } from '../results/redact.js';

/** Whose services they are. */
export type SecretOwner = Pick<ServiceOwner, 'sessionId' | 'personalityId'>;

/**
 * The secrets that services resolved. A call may return what a service of its session was told, so
 * that they are taken out of what calls give, for as long as the session lasts; those of a service
 * without a session, from the calls of its personality.
 */
export class ServiceSecrets {
  readonly #bySession = new Map<string, SecretRedactor>();
  readonly #byPersonality = new Map<string | undefined, SecretRedactor>();

  /** Where the secrets of a service are to be added. */
  open({ sessionId, personalityId }: SecretOwner): SecretRedactor {
    return sessionId === undefined
      ? opened(this.#byPersonality, personalityId)
      : opened(this.#bySession, sessionId);
  }

  /** Those that a call may come across; `undefined` for none. */
  of({ sessionId = '', personalityId }: SecretOwner): SecretRedactor | undefined {
    const ofSession = this.#bySession.get(sessionId);
    const ofPersonality = this.#byPersonality.get(personalityId);
    return ofSession !== undefined && ofPersonality !== undefined
      ? new SecretRedactor(ofSession, ofPersonality)
      : (ofSession ?? ofPersonality);
  }

  /** What a session knew is nobody's any more. */
  forget(sessionId: string): void {
    this.#bySession.delete(sessionId);
  }
}

function opened<K>(all: Map<K, SecretRedactor>, key: K): SecretRedactor {
  const secrets = all.get(key) ?? new SecretRedactor();
  all.set(key, secrets);
  return secrets;
}
