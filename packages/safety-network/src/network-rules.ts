import {
  classifyAddress,
  compileHostSet,
  compileNamedMachines,
  type HostSet,
  isAddressAllowed,
  isIpLiteral,
  isMetadataHost,
  isPortAllowed,
  normalizeHost,
  parseHostPattern,
  reachedAddress,
  urlPort,
} from '@ethosagent/policy';
import { EthosError, type NetworkPolicy } from '@ethosagent/types';
import { type DecidingEntries, deny, type Verdict } from './denials.js';

const MAX_VERDICTS = 1_000;

/** The compiled rules of one host set and one policy. */
export class NetworkRules {
  readonly #allowed: HostSet;
  readonly #operatorAllow: HostSet | undefined;
  readonly #denied: HostSet;
  /** The denied entries that are addresses. They also apply to the addresses behind a name. */
  readonly #deniedMachines: HostSet;
  readonly #allowPrivate: boolean;
  /**
   * Machines that are named exactly by the operator, or by the tool if there is no policy. Their
   * addresses may be private.
   */
  readonly #named: HostSet;
  /** Decisions by scheme, host and port, which is everything that the rules look at. */
  readonly #verdicts = new Map<string, Verdict>();

  /** The hosts that the tool declared, also those that the policy does not allow. */
  readonly #declared: HostSet | undefined;

  /** Hosts must also be in this set, if there is one. It opens nothing. */
  readonly #within: HostSet | undefined;

  /**
   * Compiles the lists.
   * @throws `CONFIG_INVALID` for a deny rule that can't be parsed: it would deny nothing
   */
  // biome-ignore lint/complexity/useMaxParams: the lists in the order in which they are asked
  constructor(
    allowedHosts: Iterable<string>,
    policy: NetworkPolicy | undefined,
    declaredHosts?: Iterable<string>,
    within?: Iterable<string>,
  ) {
    this.#within = within && compileHostSet(within);
    const declared = [...allowedHosts];
    this.#allowed = compileHostSet(declared);
    this.#declared = declaredHosts && compileHostSet(declaredHosts);
    this.#operatorAllow = policy?.allow && compileHostSet(policy.allow);
    const denied = (policy?.deny ?? []).flatMap(denyPatterns);
    this.#denied = compileHostSet(denied);
    this.#deniedMachines = compileNamedMachines(denied);
    this.#allowPrivate = policy?.allow_private_urls === true;
    this.#named = compileNamedMachines(policy ? (policy.allow ?? []) : declared);
  }

  /** Decides about a URL without looking up an address. */
  judgeUrl(url: URL): Verdict {
    if (url.username !== '' || url.password !== '') {
      const verdict = this.#judgePlace(url);
      if (verdict.decision === 'denied') return verdict;
      const detail = `the URL of ${url.host} has a user name or password; use a header`;
      return deny('userinfo', detail, verdict.entries);
    }
    // The origin is not used as the key: a `blob:` URL has the origin of another URL.
    const place = `${url.protocol}//${url.host}`;
    const known = this.#verdicts.get(place);
    if (known) return known;
    const verdict = this.#judgePlace(url);
    if (this.#verdicts.size < MAX_VERDICTS) this.#verdicts.set(place, verdict);
    return verdict;
  }

  #judgePlace(url: URL): Verdict {
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      return deny('scheme', `${url.protocol} is not allowed; use http: or https:`);
    }
    const host = normalizeHost(url.hostname);
    if (host === null)
      return deny(
        'malformed host',
        'the host of the URL is malformed; write it as in https://example.com/',
      );
    const port = urlPort(url);
    if (isMetadataHost(host)) {
      return deny(
        'metadata service',
        `${host} is a metadata service, which no rule opens; use another host`,
      );
    }
    const denyRule = this.#denied.matches(host, port);
    if (denyRule) {
      return deny(`deny list: ${denyRule}`, `${host} is ${onDenyList(denyRule)}`, {
        deny: denyRule,
      });
    }
    const rule = this.#allowed.matches(host, port);
    if (!rule) return this.#notAllowed(host, port);
    const operatorRule = this.#operatorAllow?.matches(host, port);
    if (this.#operatorAllow && !operatorRule) return this.#notAllowed(host, port);
    const entries: DecidingEntries = {
      covers: rule,
      ...(operatorRule !== undefined && { allow: operatorRule }),
    };
    if (this.#within !== undefined && this.#within.matches(host, port) === undefined) {
      const why = `${urlPlace(host, port)} is outside the hosts that the agent's program set for this one call; it decides anew for each call`;
      return deny('not in the hosts of this call', why, entries);
    }
    if (!this.#isPortOpen(port, [rule, operatorRule])) {
      const why = isPortAllowed(port, true)
        ? `port ${port} of ${host} belongs to an internal service, such as a database; the operator can allow it as ${host}:${port} in safety.network.allow`
        : `port ${port} of ${host} belongs to another protocol than HTTP, and no rule opens it; use another port`;
      return deny('port', why, entries);
    }
    const address = host === 'localhost' || host.endsWith('.localhost') ? '127.0.0.1' : host;
    const verdict = isIpLiteral(address) ? this.judgeAddresses(host, port, [address]) : undefined;
    if (verdict === undefined) {
      const opened = isIpLiteral(address) ? this.openedBy(host, port, [address]) : {};
      return { decision: 'allowed', rule, entries: { ...entries, ...opened } };
    }
    return { ...verdict, entries: { ...entries, ...verdict.entries } };
  }

  /** Denies a host. Says which list lacks it: the tool's declaration, or the operator's list. */
  #notAllowed(host: string, port: number): Verdict {
    const place = urlPlace(host, port);
    const declared = this.#declared?.matches(host, port);
    if (declared === undefined && this.#allowed.matches(host, port) === undefined) {
      const other = (this.#declared ?? this.#allowed).patterns.some((pattern) =>
        coversAtPort(pattern, host),
      );
      // The documentation quotes this text.
      const what = `${host} is not in the declared allowedHosts`;
      return deny('not in the host set', other ? `${what} with port ${port}` : what);
    }
    const entries = declared === undefined ? {} : { covers: declared };
    if (this.#operatorAllow === undefined) {
      return deny(
        'not in the allow list',
        `${place} is not allowed: the tool may reach what safety.network.allow of the personality lists, and there is no such list; the operator can add it, with this host`,
        entries,
      );
    }
    return deny(
      'not in the allow list',
      `${place} is declared by the tool, as ${declared}, but is not in the personality's safety.network.allow; the operator can add it there`,
      entries,
    );
  }

  /**
   * Decides about the addresses behind a host. If one address is not allowed, the host is denied.
   *
   * @returns a denial, or `undefined` if every address may be connected to
   */
  judgeAddresses(
    host: string,
    port: number,
    addresses: readonly string[],
  ): (Verdict & { decision: 'denied' }) | undefined {
    const allowPrivate = this.#allowPrivate || this.#named.matches(host, port) !== undefined;
    const bad = addresses.find((address) => !isAddressAllowed(address, { allowPrivate }));
    if (bad !== undefined) {
      const { kind } = classifyAddress(bad);
      return deny(
        `address floor: ${kind}`,
        `${host} leads to an address that is ${kind}; ${remedyFor(bad, host)}`,
      );
    }
    if (this.#deniedMachines.patterns.length === 0) return undefined;
    for (const address of addresses) {
      const rule = this.#deniedMachines.matches(reachedAddress(address), port);
      if (rule) {
        return deny(`deny list: ${rule}`, `${host} leads to an address ${onDenyList(rule)}`, {
          deny: rule,
        });
      }
    }
    return undefined;
  }

  /**
   * Returns the entries that opened addresses which are not public, besides the entry that covers
   * the host.
   */
  openedBy(
    host: string,
    port: number,
    addresses: readonly string[],
  ): Pick<DecidingEntries, 'privateUrls'> {
    if (!this.#allowPrivate || this.#named.matches(host, port) !== undefined) return {};
    const isPublic = addresses.every((address) =>
      isAddressAllowed(address, { allowPrivate: false }),
    );
    return isPublic ? {} : { privateUrls: true };
  }

  #isPortOpen(port: number, rules: readonly (string | undefined)[]): boolean {
    if (isPortAllowed(port, false)) return true;
    const isNamed = rules.some((rule) => rule && parseHostPattern(rule)?.port === port);
    return isPortAllowed(port, isNamed);
  }
}

/** Whether a pattern names a port, and covers the host at it. */
function coversAtPort(pattern: string, host: string): boolean {
  const port = parseHostPattern(pattern)?.port;
  return port !== undefined && compileHostSet([pattern]).matches(host, port) !== undefined;
}

function onDenyList(rule: string): string {
  return `on the deny list, as ${rule}; the operator can take it off safety.network.deny`;
}

function urlPlace(host: string, port: number): string {
  return port === 80 || port === 443 ? host : `${host}:${port}`;
}

/** Returns what an operator can do about an address that the floor denies. */
function remedyFor(address: string, host: string): string {
  if (!isAddressAllowed(address, { allowPrivate: true })) return 'no rule opens it';
  const open = 'set safety.network.allow_private_urls';
  const isMachine = compileNamedMachines([host]).patterns.length > 0;
  return isMachine
    ? `the operator can name ${host} in safety.network.allow, or ${open}`
    : `the operator can ${open}`;
}

/** Returns the patterns of a deny rule. An address in it also gives the address it leads to. */
function denyPatterns(rule: string): string[] {
  const pattern = parseHostPattern(rule);
  if (pattern === null) {
    throw new EthosError(
      'CONFIG_INVALID',
      `safety.network.deny has ${JSON.stringify(rule)}, which is not a host, *.suffix or *`,
    );
  }
  const reached = reachedAddress(pattern.host);
  if (reached === pattern.host) return [rule];
  return [rule, pattern.port === undefined ? reached : `${reached}:${pattern.port}`];
}
