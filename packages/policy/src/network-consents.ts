import type { NetworkPolicy } from '@ethosagent/types';
import { classifyAddress, isMetadataHost } from './addresses.js';
import { hostMeets } from './host-meets.js';
import { type HostPattern, isIpLiteral, parseHostPattern } from './hosts.js';
import { isPortAllowed } from './ports.js';

/**
 * What an operator's allow list opens by naming it, beside the hosts that it covers. Normalised and
 * sorted.
 */
export interface NetworkConsents {
  /** Machines with private addresses that the list names. */
  privateHosts: string[];
  /** Hosts with the port of another service, where the list names the port. */
  servicePorts: string[];
}

/**
 * What the entries of an allow list open for a tool because they name it: a wider entry would not.
 *
 * @param declared the tool's `allowedHosts`
 * @param policy the personality's network policy
 * @returns the patterns, sorted
 */
export function networkConsents(
  declared: readonly string[],
  { allow = [], declared_only }: NetworkPolicy,
): NetworkConsents {
  const privateHosts = new Set<string>();
  const servicePorts = new Set<string>();
  const mine = parseAll(declared).filter(({ kind }) => kind !== 'any' || declared_only !== true);
  const consents = parseAll(allow).filter(
    (entry) => isPrivateMachine(entry) || isServicePort(entry),
  );
  for (const { other: entry, meet } of hostMeets(mine, consents)) {
    if (whyNeverOpen(meet) !== undefined) continue;
    if (isPrivateMachine(entry)) privateHosts.add(meet.text);
    if (isServicePort(entry)) servicePorts.add(meet.text);
  }
  return { privateHosts: [...privateHosts].sort(), servicePorts: [...servicePorts].sort() };
}

/**
 * Why no rule opens what a pattern names.
 *
 * @param pattern as `parseHostPattern` gives it
 * @returns the reason; `undefined` if a rule may open it
 */
export function whyNeverOpen({ kind, host, port }: HostPattern): string | undefined {
  if (kind === 'exact' && isMetadataHost(host)) return `${host} is a metadata service`;
  if (port === undefined || isPortAllowed(port, true)) return undefined;
  return `port ${port} belongs to another protocol than HTTP`;
}

/**
 * Whether the port of a pattern is one that only a rule with this very port opens.
 *
 * @param pattern with its port
 * @returns `false` for a pattern without a port
 */
export function isServicePort({ port }: Pick<HostPattern, 'port'>): boolean {
  return port !== undefined && !isPortAllowed(port, false);
}

/** Whether a pattern names a single machine whose address is not public. */
export function isPrivateMachine({ kind, host }: Pick<HostPattern, 'kind' | 'host'>): boolean {
  if (kind !== 'exact') return false;
  return host === 'localhost' || (isIpLiteral(host) && classifyAddress(host).kind !== 'public');
}

function parseAll(patterns: readonly string[]): HostPattern[] {
  return patterns.flatMap((pattern) => parseHostPattern(pattern) ?? []);
}
