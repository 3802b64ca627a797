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
import { deny, type Verdict } from './denials.js';

const MAX_VERDICTS = 1_000;

/** The rules of one host set and one policy, compiled. */
export class NetworkRules {
  readonly #allowed: HostSet;
  readonly #operatorAllow: HostSet | undefined;
  readonly #denied: HostSet;
  /** Of those, the ones that are addresses: they also hold for the addresses behind a name. */
  readonly #deniedMachines: HostSet;
  readonly #allowPrivate: boolean;
  /** Machines that the operator named exactly, and so meant, whatever their address. */
  readonly #named: HostSet;
  /** By scheme, host and port: all that the rules go by. */
  readonly #verdicts = new Map<string, Verdict>();

  /** @throws `CONFIG_INVALID` for a deny rule that does not parse: it would deny nothing */
  constructor(allowedHosts: Iterable<string>, policy: NetworkPolicy | undefined) {
    const declared = [...allowedHosts];
    this.#allowed = compileHostSet(declared);
    this.#operatorAllow = policy?.allow && compileHostSet(policy.allow);
    const denied = (policy?.deny ?? []).flatMap(denyPatterns);
    this.#denied = compileHostSet(denied);
    this.#deniedMachines = compileNamedMachines(denied);
    this.#allowPrivate = policy?.allow_private_urls === true;
    this.#named = compileNamedMachines(policy ? (policy.allow ?? []) : declared);
  }

  /** What can be said of a URL without asking anyone for an address. */
  judgeUrl(url: URL): Verdict {
    if (url.username !== '' || url.password !== '') {
      const verdict = this.#judgePlace(url);
      if (verdict.decision === 'denied') return verdict;
      return deny('userinfo', `the URL of ${url.host} has a user name or password; use a header`);
    }
    // Not by the origin: that of a `blob:` URL is the origin of another URL.
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
    if (host === null) return deny('malformed host', 'the host of the URL is malformed');
    const port = urlPort(url);
    if (isMetadataHost(host)) return deny('metadata service', `${host} is a metadata service`);
    const denyRule = this.#denied.matches(host, port);
    if (denyRule) return deny(`deny list: ${denyRule}`, `${host} is on the deny list`);
    const rule = this.#allowed.matches(host, port);
    if (!rule) return deny('not in the host set', `${host} is not in the declared allowedHosts`);
    const operatorRule = this.#operatorAllow?.matches(host, port);
    if (this.#operatorAllow && !operatorRule) {
      return deny('not in the allow list', `${host} is not in safety.network.allow`);
    }
    if (!this.#isPortOpen(port, [rule, operatorRule])) {
      return deny('port', `port ${port} of ${host} is not one for HTTP, or no rule names it`);
    }
    const address = host === 'localhost' || host.endsWith('.localhost') ? '127.0.0.1' : host;
    const verdict = isIpLiteral(address) ? this.judgeAddresses(host, port, [address]) : undefined;
    return verdict ?? { decision: 'allowed', rule };
  }

  /**
   * What is to be said of the addresses behind a host. One bad address condemns them all.
   *
   * @returns a denial, or `undefined` when every address may be connected to
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
      return deny(`address floor: ${kind}`, `${host} leads to an address that is ${kind}`);
    }
    if (this.#deniedMachines.patterns.length === 0) return undefined;
    for (const address of addresses) {
      const rule = this.#deniedMachines.matches(reachedAddress(address), port);
      if (rule) return deny(`deny list: ${rule}`, `${host} leads to an address on the deny list`);
    }
    return undefined;
  }

  #isPortOpen(port: number, rules: readonly (string | undefined)[]): boolean {
    if (isPortAllowed(port, false)) return true;
    const isNamed = rules.some((rule) => rule && parseHostPattern(rule)?.port === port);
    return isPortAllowed(port, isNamed);
  }
}

/** The patterns of a deny rule; of an address also the one that it stands for. */
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
