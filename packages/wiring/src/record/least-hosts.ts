import {
  classifyAddress,
  compileCoveringHosts,
  compileHostCover,
  compileHostSet,
  isIpLiteral,
  isPortAllowed,
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

/** A list of host patterns, compiled for many requests. */
export interface HostList {
  /** Whether one entry covers a whole pattern. Without a list, hosts are not limited. */
  covers(pattern: string): boolean;
  /** Whether an entry that covers a request names its port. */
  namesPort(access: HostAccess): boolean;
  /** The entry that names the one host of a request. */
  naming(access: HostAccess): string | undefined;
}

/** Compiles the present patterns; `undefined` if hosts are not limited. */
export function compileHostList(today: readonly string[] | undefined): HostList {
  const parsed = (today ?? []).flatMap((entry) => {
    const pattern = parseHostPattern(entry);
    return pattern === null ? [] : [{ entry, pattern }];
  });
  const textsOf = (entries: typeof parsed) => entries.map(({ entry }) => entry);
  const isCovered = wholeCover(textsOf(parsed));
  const isCoveredWithPort = wholeCover(
    textsOf(parsed.filter(({ pattern }) => pattern.port !== undefined)),
  );
  const named = textsOf(parsed.filter(({ pattern }) => pattern.kind === 'exact'));
  const placeOf = compileCoveringHosts(named);
  return {
    covers: (pattern) => today === undefined || isCovered(pattern),
    namesPort: ({ host, port }) => isCoveredWithPort(portText(host, port)),
    naming({ host, port }) {
      const place = placeOf(portText(host, port));
      return place === undefined ? undefined : named[place];
    },
  };
}

/** Whether a pattern is in its normal form, and an entry covers it. */
function wholeCover(entries: readonly string[]): (pattern: string) => boolean {
  const isCovered = compileHostCover(entries);
  return (pattern) => parseHostPattern(pattern)?.text === pattern && isCovered(pattern);
}

/**
 * The exact hosts of requests, each with its number of requests. They have ports if one of a host's
 * ports is not a default one. No host is wider than the present entries that cover it.
 */
export function leastHosts(accesses: readonly HostAccess[], today: HostList): Map<string, number> {
  const withPorts = new Set(
    accesses
      .filter(({ host, isDefaultPort }) => !isDefaultPort || !today.covers(bare(host)))
      .map(({ host }) => host),
  );
  // In the list for all tools, the port would also open for a tool that does not name it itself.
  const unnamed = new Set(
    accesses
      .filter((access) => !isPortAllowed(access.port, false) && !today.namesPort(access))
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

type MayRequest = (access: Pick<HostAccess, 'host' | 'port'>) => boolean;

/** Whether a tool with these declared hosts may make a request under an allow list. */
function compileRequests(
  declared: readonly string[],
  allow: readonly string[] | undefined,
): MayRequest {
  const rules = compileHostSet(resolveAllowedHosts(declared, allow));
  return ({ host, port }) => {
    const rule = rules.matches(host, port);
    return rule !== undefined && isPortAllowed(port, parseHostPattern(rule)?.port === port);
  };
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
  const named = new Set(
    declared.flat().flatMap((pattern) => parseHostPattern(pattern)?.port ?? []),
  );
  const toolOf = toolCompiler({ before, after });
  const staying = [...new Set(declared.map(toolOf))];
  const isGained = (host: string, port: number) =>
    staying.some(({ old, now }) => now({ host, port }) && !old({ host, port }));
  const gained = new Map<string, boolean>();
  const remembered = (key: string, ask: () => boolean) => {
    const isGain = gained.get(key) ?? ask();
    gained.set(key, isGain);
    return isGain;
  };
  return accesses.find((access) => {
    const { host, port } = access;
    const mine = toolOf(access.declared);
    if (mine.old(access) && !mine.now(access)) return true;
    return (
      remembered(`${host} ${port}`, () => isGained(host, port)) ||
      remembered(host, () => [...named].some((each) => isGained(host, each)))
    );
  });
}

/** What a tool may request under the old list and under the new one. */
interface ToolRequests {
  readonly old: MayRequest;
  readonly now: MayRequest;
}

/** Compiles the declared hosts of a tool once, and those of tools that declare the same together. */
function toolCompiler({
  before,
  after,
}: Pick<HostChange, 'before' | 'after'>): (declared: readonly string[]) => ToolRequests {
  const byList = new Map<readonly string[], ToolRequests>();
  const byContent = new Map<string, ToolRequests>();
  return (declared) => {
    const known = byList.get(declared);
    if (known !== undefined) return known;
    const key = JSON.stringify(declared);
    const tool = byContent.get(key) ?? {
      old: compileRequests(declared, before),
      now: compileRequests(declared, after),
    };
    byContent.set(key, tool);
    byList.set(declared, tool);
    return tool;
  };
}

/** The narrowest pattern for one request. */
export function portText(host: string, port: number): string {
  const spelled = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  return parseHostPattern(spelled)?.text ?? spelled;
}

function bare(host: string): string {
  return parseHostPattern(host)?.text ?? host;
}
