import type { ResolvedGrant } from '../resolved-grant.js';

/** An access that one grant gives, and another may not. */
export interface GainedAccess {
  /** The access as the object of a sentence: `requests to api.example.com`. */
  readonly what: string;
  /** Its host, path, ref, …. */
  readonly entry?: string;
  /** The key of a personality that decides on it, e.g. `safety.network.allow`. */
  readonly policy?: string;
  /** The key of a declaration that decides on it, e.g. `network.allowedHosts`. */
  readonly declared?: string;
}

/**
 * What `after` may give of one capability and `before` does not. Anything that can't be proved to
 * be within `before` counts as gained.
 */
export type CompareCapability = (
  before: ResolvedGrant,
  after: ResolvedGrant,
) => readonly GainedAccess[];

/** One difference between two grants, by its effect. */
export interface GrantChange extends GainedAccess {
  /** `widened`: it may be allowed now, and was not. `narrowed`: it is not any more. */
  readonly kind: 'widened' | 'narrowed';
  readonly capability: keyof ResolvedGrant;
}
