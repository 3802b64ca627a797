import { randomBytes } from 'node:crypto';
import type { NetworkGuard } from './network-guard.js';

/** The header that what a proxy answers itself has, and what a server answers has not. */
export const MARK_HEADER = 'x-ethos-proxy';

const marks = new WeakMap<NetworkGuard, string>();

/** The value of the header for the proxies of a guard. */
export function markOf(guard: NetworkGuard): string {
  const mark = marks.get(guard) ?? randomBytes(18).toString('base64url');
  marks.set(guard, mark);
  return mark;
}
