import {
  classifyAddress,
  compileHostSet,
  isIpLiteral,
  isPortAllowed,
  meetHosts,
  normalizeHost,
  parseHostPattern,
  parseUrl,
  resolveAllowedHosts,
  urlPort,
} from '@ethosagent/policy';

/** Where a request went. */
export interface HostAccess {
  host: string;
  port: number;
  isDefaultPort: boolean;
}

/** The host of a target of the log; `undefined` where it is none. */
export function hostOf(target: string): HostAccess | undefined {
  const url = parseUrl(target);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  const host = normalizeHost(url.hostname);
  if (host === null) return undefined;
  return { host, port: urlPort(url), isDefaultPort: url.port === '' };
}

/** An entry of an allow list would be the operator's word that a private address is meant. */
export function needsConsent(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  return isIpLiteral(host) && classifyAddress(host).kind !== 'public';
}

/**
 * The exact hosts of requests, with ports where one of a host is not the default, each with the
 * number of its requests. None is wider than the entries of today that cover it.
 *
 * @param today the patterns of today; `undefined` where nothing bounds the hosts
 */
export function leastHosts(
  accesses: readonly HostAccess[],
  today: readonly string[] | undefined,
): Map<string, number> {
  const withPorts = new Set(
    accesses
      .filter(({ host, isDefaultPort }) => !isDefaultPort || !isCovered(bare(host), today))
      .map(({ host }) => host),
  );
  // Named in a list of all tools, such a port would open for a tool that does not name it itself.
  const unnamed = new Set(
    accesses
      .filter(({ host, port }) => !isPortAllowed(port, false) && !namesPort(host, port, today))
      .map(({ host }) => host),
  );
  const counts = new Map<string, number>();
  for (const { host, port } of accesses) {
    const isBare = unnamed.has(host) || !withPorts.has(host);
    const text = isBare ? bare(host) : portText(host, port);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return new Map([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Whether a pattern that covers the request names its port. */
function namesPort(host: string, port: number, today: readonly string[] | undefined): boolean {
  const asked = portText(host, port);
  return (today ?? []).some(
    (entry) => parseHostPattern(entry)?.port === port && meetHosts(entry, asked) === asked,
  );
}

/** Whether a tool that declares these hosts may make a request under an allow list. */
function mayRequest(
  { declared, allow }: { declared: readonly string[]; allow: readonly string[] | undefined },
  { host, port }: HostAccess,
): boolean {
  const rule = compileHostSet(resolveAllowedHosts(declared, allow)).matches(host, port);
  return rule !== undefined && isPortAllowed(port, parseHostPattern(rule)?.port === port);
}

/** One list of hosts for another, and what is declared by the tools that stay. */
export interface HostChange {
  before: readonly string[] | undefined;
  after: readonly string[];
  declared: readonly (readonly string[])[];
}

/**
 * A request that a change of the list would open or close for a tool, by its effect: entries with
 * and without a port work together, and a port of a service has to be named.
 */
export function changedRequest(
  accesses: readonly (HostAccess & { declared: readonly string[] })[],
  { before, after, declared }: HostChange,
): HostAccess | undefined {
  const named = declared.flat().flatMap((pattern) => parseHostPattern(pattern)?.port ?? []);
  return accesses.find((access) => {
    const mine = { declared: access.declared };
    if (
      mayRequest({ ...mine, allow: before }, access) &&
      !mayRequest({ ...mine, allow: after }, access)
    ) {
      return true;
    }
    return [access.port, ...named].some((port) =>
      declared.some(
        (hosts) =>
          mayRequest({ declared: hosts, allow: after }, { ...access, port }) &&
          !mayRequest({ declared: hosts, allow: before }, { ...access, port }),
      ),
    );
  });
}

/** Whether the patterns cover all of a pattern. */
export function isCovered(pattern: string, today: readonly string[] | undefined): boolean {
  return today === undefined || today.some((each) => meetHosts(each, pattern) === pattern);
}

/** The pattern of one request, as narrow as patterns get. */
export function portText(host: string, port: number): string {
  const spelled = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  return parseHostPattern(spelled)?.text ?? spelled;
}

function bare(host: string): string {
  return parseHostPattern(host)?.text ?? host;
}
