import {
  compileHostCover,
  compileHostMeets,
  isIpLiteral,
  isServicePort,
  parseHostPattern,
  reachedAddress,
} from '@ethosagent/policy';
import type { ResolvedGrant } from '../resolved-grant.js';
import type { CompareCapability, GainedAccess } from './grant-change.js';

type Network = NonNullable<ResolvedGrant['network']>;

const NOWHERE: Network = { allowedHosts: [] };
const ALLOW = { policy: 'safety.network.allow', declared: 'network.allowedHosts' } as const;

/** The requests that `after` allows and `before` may not. */
export const compareNetwork: CompareCapability = (
  { network: before = NOWHERE },
  { network: after = NOWHERE },
) => {
  const isDenied = compileHostCover(denyRules(after));
  const isOpen = (pattern: string) => !isDenied(pattern);
  const hosts = after.allowedHosts.filter(isOpen);
  if (hosts.length === 0) return [];
  const gained = (entry: string, what = `requests to ${entry}`, policy: string = ALLOW.policy) => ({
    ...ALLOW,
    policy,
    entry,
    what,
  });
  const wasAllowed = compileHostCover(before.allowedHosts);
  const found: GainedAccess[] = hosts
    .filter((host) => !wasAllowed(host))
    .map((host) => gained(host));
  const isReached = compileHostMeets(hosts);
  // A denied address is denied behind every name as well.
  for (const rule of before.deny ?? []) {
    const isLost = expand(rule).some(
      (each) => isOpen(each) && (isMachine(each) || isReached(each)),
    );
    if (isLost) {
      found.push(gained(rule, `requests to ${rule}, which was denied`, 'safety.network.deny'));
    }
  }
  if (before.allow_private_urls !== true) {
    if (after.allow_private_urls === true) {
      found.push({
        what: 'requests to private addresses',
        policy: 'safety.network.allow_private_urls',
      });
    }
    const wasPrivate = compileHostCover(before.privateHosts ?? []);
    for (const machine of (after.privateHosts ?? []).filter(isOpen)) {
      if (wasPrivate(machine)) continue;
      found.push(gained(machine, `requests to ${machine}, whose address is private`));
    }
  }
  const wasOpened = compileHostCover(openedPorts(before));
  for (const place of openedPorts(after).filter(isOpen)) {
    if (wasOpened(place)) continue;
    found.push(gained(place, `requests to ${place}, the port of another service`));
  }
  return found;
};

/** The rules that open a port of a service other than HTTP. */
function openedPorts({ allowedHosts, servicePorts = [] }: Network): string[] {
  return [...new Set([...allowedHosts, ...servicePorts])].filter((pattern) => {
    const parsed = parseHostPattern(pattern);
    return parsed !== null && isServicePort(parsed);
  });
}

function denyRules({ deny = [] }: Network): string[] {
  return deny.flatMap(expand);
}

/** The rule itself. For a rule with an address, also the address that it leads to. */
function expand(rule: string): string[] {
  const parsed = parseHostPattern(rule);
  if (parsed === null) return [];
  const reached = reachedAddress(parsed.host);
  return reached === parsed.host
    ? [parsed.text]
    : [parsed.text, parsed.port === undefined ? reached : `${reached}:${parsed.port}`];
}

function isMachine(pattern: string): boolean {
  const parsed = parseHostPattern(pattern);
  return parsed?.kind === 'exact' && isIpLiteral(parsed.host);
}
