import type { ServiceOwner } from '@ethosagent/types';
import { SecretRedactor } from '../results/redact.js';

/** The owner of the services. */
export type SecretOwner = Pick<ServiceOwner, 'sessionId' | 'personalityId'>;

/**
 * The secrets that services resolved. A call may return what a service of its session learned. So
 * these secrets are redacted from the results of calls, as long as the session lasts. The secrets
 * of a service without a session are redacted from the calls of its personality.
 */
export class ServiceSecrets {
  readonly #bySession = new Map<string, SecretRedactor>();
  readonly #byPersonality = new Map<string | undefined, SecretRedactor>();

  /** The redactor to which the secrets of a service are added. */
  open({ sessionId, personalityId }: SecretOwner): SecretRedactor {
    return sessionId === undefined
      ? opened(this.#byPersonality, personalityId)
      : opened(this.#bySession, sessionId);
  }

  /** The secrets that a call may get to see; `undefined` if there are none. */
  of({ sessionId = '', personalityId }: SecretOwner): SecretRedactor | undefined {
    const ofSession = this.#bySession.get(sessionId);
    const ofPersonality = this.#byPersonality.get(personalityId);
    return ofSession !== undefined && ofPersonality !== undefined
      ? new SecretRedactor(ofSession, ofPersonality)
      : (ofSession ?? ofPersonality);
  }

  /** Drops the secrets of a session. */
  forget(sessionId: string): void {
    this.#bySession.delete(sessionId);
  }
}

function opened<K>(all: Map<K, SecretRedactor>, key: K): SecretRedactor {
  const secrets = all.get(key) ?? new SecretRedactor();
  all.set(key, secrets);
  return secrets;
}
