import type { ShowImagesOptions } from '../results/show-images.js';
import type { AskHost } from './call-guard.js';
import type { SessionIdentity, SessionLimits } from './session-api.js';
import type { SessionLedger } from './session-ledger.js';
import type { SessionTools } from './session-tools.js';
import type { UntrustedFiles } from './untrusted-files.js';

/** What a session is made of. */
export interface ToolSessionParts {
  id: string;
  tools: SessionTools;
  /** The personality at the begin of each batch; the active one of `tools` when absent. */
  personality: string | undefined;
  /** For when `personality` is absent. */
  activePersonality: () => string;
  identity: SessionIdentity;
  approve: AskHost | undefined;
  limits: SessionLimits;
  ledger: SessionLedger;
  /** What the owner of the session has granted beyond it, under a personality. */
  ownerLedger: (personalityId: string) => SessionLedger;
  /** How images of results come before the model: by the limits of all providers when absent. */
  images?: Pick<ShowImagesOptions, 'limits' | 'scaler'>;
  /** What sessions changed with untrusted content at hand. */
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
