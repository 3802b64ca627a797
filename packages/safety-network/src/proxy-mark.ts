import { randomBytes } from 'node:crypto';
import type { NetworkGuard } from './network-guard.js';

/**
 * This header is on the answers that a proxy gives itself, and never on the answers of a server.
 */
export const MARK_HEADER = 'x-ethos-proxy';

const marks = new WeakMap<NetworkGuard, string>();

/** Returns the value of the header for the proxies of a guard. */
export function markOf(guard: NetworkGuard): string {
  const mark = marks.get(guard) ?? randomBytes(18).toString('base64url');
  marks.set(guard, mark);
  return mark;
}
