import { HostIndex, hostMeets } from './host-meets.js';
import {
  type HostPattern,
  isIpLiteral,
  normalizeHost,
  parseHostPattern,
  withPort,
} from './hosts.js';

/** Host patterns, compiled for many look-ups. */
export interface HostSet {
  /** The normalised patterns. Those that don't parse are left out: they match nothing. */
  readonly patterns: readonly string[];
  /**
   * The pattern that covers a host. A pattern with the port is preferred to one without.
   *
   * @param host a host without a port
   * @param port the port that is asked for; without it, patterns with a port don't match
   */
  matches(host: string, port?: number): string | undefined;
}

/**
 * Compiles patterns. A look-up costs one hash per label of the host, however many there are.
 *
 * @param patterns as `parseHostPattern` takes them; others are left out
 * @returns a set whose `matches` gives the pattern that covers a host, or `undefined`
 */
export function compileHostSet(patterns: Iterable<string>): HostSet {
  const parsed = parseAll(patterns);
  const texts = new Set(parsed.map((pattern) => pattern.text));
  const namesPorts = parsed.some((pattern) => pattern.port !== undefined);

  function find(host: string, port: number | undefined): string | undefined {
    const exact = withPort(host, port);
    if (texts.has(exact)) return exact;
    for (let dot = host.indexOf('.'); dot !== -1; dot = host.indexOf('.', dot + 1)) {
      const suffix = withPort(`*${host.slice(dot)}`, port);
      if (texts.has(suffix)) return suffix;
    }
    const any = withPort('*', port);
    return texts.has(any) ? any : undefined;
  }

  return {
    patterns: [...texts],
    matches(host, port) {
      const name = normalizeHost(host);
      if (name === null) return undefined;
      const byPort = namesPorts && port !== undefined ? find(name, port) : undefined;
      return byPort ?? find(name, undefined);
    },
  };
}

/**
 * The patterns for the hosts that both lists cover: normalised and sorted, without a pattern that
 * another one covers.
 *
 * @param a host patterns; malformed ones are left out
 * @param b host patterns; malformed ones are left out
 * @returns the patterns, sorted
 */
export function meetHostLists(a: Iterable<string>, b: Iterable<string>): string[] {
  const meets = new HostIndex(hostMeets(parseAll(a), parseAll(b)).map(({ meet }) => meet));
  return [...meets.patterns]
    .filter((pattern) => !meets.hasWider(pattern))
    .map((pattern) => pattern.text)
    .sort();
}

/**
 * The hosts that a tool may reach under a personality.
 *
 * @param declared the tool's `allowedHosts`; `*` stands for the personality's list
 * @param personalityAllow the personality's list. Absent: specific hosts stay as declared and `*`
 * is nothing. Empty: nothing is allowed.
 * @param options `declaredOnly`: `*` is nothing, also with a list
 * @returns host patterns, sorted
 */
export function resolveAllowedHosts(
  declared: readonly string[],
  personalityAllow: readonly string[] | undefined,
  { declaredOnly = false }: { declaredOnly?: boolean } = {},
): string[] {
  if (personalityAllow && !declaredOnly) return meetHostLists(declared, personalityAllow);
  const specific = parseAll(declared).filter((pattern) => pattern.kind !== 'any');
  return meetHostLists(
    specific.map((pattern) => pattern.text),
    personalityAllow ?? ['*'],
  );
}

/**
 * The entries that name one machine beyond doubt: an IP address or `localhost`, no wildcard. In
 * an operator's allow list they are consent to a private address.
 *
 * @param patterns as `parseHostPattern` takes them; others are left out
 * @returns a set of those entries
 */
export function compileNamedMachines(patterns: Iterable<string>): HostSet {
  const named = parseAll(patterns).filter(
    ({ kind, host }) => kind === 'exact' && (host === 'localhost' || isIpLiteral(host)),
  );
  return compileHostSet(named.map((pattern) => pattern.text));
}

/**
 * Compiles patterns, so that many others can be compared with them.
 *
 * @param patterns host patterns; malformed ones cover nothing
 * @returns whether one of the patterns covers every host of the asked one. A malformed pattern has no
 * hosts, so any pattern covers it
 */
export function compileHostCover(patterns: readonly string[]): (pattern: string) => boolean {
  const index = new HostIndex(parseAll(patterns));
  return (pattern) => {
    const asked = parseHostPattern(pattern);
    return asked === null ? patterns.length > 0 : index.covers(asked);
  };
}

/**
 * Compiles patterns, so that many others can be compared with them.
 *
 * @param patterns host patterns; malformed ones share no host with any other
 * @returns whether one of the patterns and the asked one cover a host together, as `meetHosts` says
 */
export function compileHostMeets(patterns: readonly string[]): (pattern: string) => boolean {
  const index = new HostIndex(parseAll(patterns));
  return (pattern) => {
    const asked = parseHostPattern(pattern);
    return asked !== null && index.meets(asked);
  };
}

function parseAll(patterns: Iterable<string>): HostPattern[] {
  return [...patterns].flatMap((pattern) => parseHostPattern(pattern) ?? []);
}
