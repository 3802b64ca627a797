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

/** The target of a request. */
export interface HostAccess {
  host: string;
  port: number;
  isDefaultPort: boolean;
}

/** Reads the host from a target of the log; `undefined` if it has none. */
export function hostOf(target: string): HostAccess | undefined {
  const url = parseUrl(target);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  const host = normalizeHost(url.hostname);
  if (host === null) return undefined;
  return { host, port: urlPort(url), isDefaultPort: url.port === '' };
}

/** Whether naming the host would open a private address. Only the operator may decide that. */
export function needsConsent(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  return isIpLiteral(host) && classifyAddress(host).kind !== 'public';
}

/**
 * The exact hosts of requests, each with its number of requests. They have ports if one of a host's
 * ports is not a default one. No host is wider than the present entries that cover it.
 *
 * @param today the present patterns; `undefined` if hosts are not limited
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
  // In the list for all tools, the port would also open for a tool that does not name it itself.
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

/** Whether a tool with these declared hosts may make a request under an allow list. */
function mayRequest(
  { declared, allow }: { declared: readonly string[]; allow: readonly string[] | undefined },
  { host, port }: HostAccess,
): boolean {
  const rule = compileHostSet(resolveAllowedHosts(declared, allow)).matches(host, port);
  return rule !== undefined && isPortAllowed(port, parseHostPattern(rule)?.port === port);
}

/** The old and new list of hosts, and the declarations of the tools that stay. */
export interface HostChange {
  before: readonly string[] | undefined;
  after: readonly string[];
  declared: readonly (readonly string[])[];
}

/**
 * A request that a change of the list would allow or deny for a tool. It is tested by its effect:
 * entries with and without a port work together, and the port of another service must be named.
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

/** Whether the patterns cover a whole pattern. */
export function isCovered(pattern: string, today: readonly string[] | undefined): boolean {
  return today === undefined || today.some((each) => meetHosts(each, pattern) === pattern);
}

/** The narrowest pattern for one request. */
export function portText(host: string, port: number): string {
  const spelled = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  return parseHostPattern(spelled)?.text ?? spelled;
}

function bare(host: string): string {
  return parseHostPattern(host)?.text ?? host;
}
