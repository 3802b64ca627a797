import type { UntrustedDecision, UntrustedPolicy } from '@ethosagent/types';
import { type MeetOptions, meetEntries } from './meet-entries.js';
import { meetTrustedSources, trustedTools } from './source-trust.js';

const STRICTER: readonly UntrustedDecision[] = ['allow', 'ask', 'deny'];

/**
 * The stricter one of each pair of decisions; a missing one counts as `ask`. The sources that both
 * trust.
 */
export function meetUntrusted(
  a: UntrustedPolicy | undefined,
  b: UntrustedPolicy | undefined,
  { expand, realPath }: MeetOptions,
): UntrustedPolicy | undefined {
  if (a === undefined && b === undefined) return undefined;
  const left = a?.trust ?? [];
  const right = b?.trust ?? [];
  const trust = [
    ...meetEntries(trustedTools(left), trustedTools(right), expand),
    ...meetTrustedSources(left, right, realPath),
  ];
  return {
    write: stricter(a?.write, b?.write),
    send: stricter(a?.send, b?.send),
    spawn: stricter(a?.spawn, b?.spawn),
    ...(trust.length > 0 && { trust }),
  };
}

function stricter(a: UntrustedDecision = 'ask', b: UntrustedDecision = 'ask'): UntrustedDecision {
  return STRICTER.indexOf(a) > STRICTER.indexOf(b) ? a : b;
}
