import type { ShowImagesOptions } from '../results/show-images.js';
import type { AskHost } from './host-answer.js';
import type { SessionIdentity, SessionLimits } from './session-api.js';
import type { SessionLedger } from './session-ledger.js';
import type { SessionTools } from './session-tools.js';
import type { UntrustedFiles } from './untrusted-files.js';

/** What a session is built from. */
export interface ToolSessionParts {
  id: string;
  tools: SessionTools;
  /** The personality at the start of each batch; if absent, the active one of `tools`. */
  personality: string | undefined;
  /** Used if `personality` is absent. */
  activePersonality: () => string;
  identity: SessionIdentity;
  approve: AskHost | undefined;
  limits: SessionLimits;
  ledger: SessionLedger;
  /** The ledger with the grants of the session's owner under a personality. */
  ownerLedger: (personalityId: string) => SessionLedger;
  /** How the model sees images of results. If absent, the limits fit all providers. */
  images?: Pick<ShowImagesOptions, 'limits' | 'scaler'>;
  /** The files that sessions changed when they could use untrusted content. */
  files: UntrustedFiles;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** The personality that a batch of the session would run with now. */
export function personalityIdOf({
  personality,
  activePersonality,
}: Pick<ToolSessionParts, 'personality' | 'activePersonality'>): string {
  return personality ?? activePersonality();
}
