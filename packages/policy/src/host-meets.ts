import { type HostPattern, meetHostPatterns, withPort } from './hosts.js';

/** Two patterns that cover some host together, and the pattern for what both cover. */
export interface HostMeet {
  readonly one: HostPattern;
  readonly other: HostPattern;
  readonly meet: HostPattern;
}

/** Host patterns by their spelling. The patterns that cover a host are looked up by the host's own labels. */
export class HostIndex {
  readonly #byText: ReadonlyMap<string, HostPattern>;
  readonly #byHost = new Map<string, HostPattern[]>();
  /** The ports of the patterns within a spelling. Made for the first pattern that is asked about. */
  #portsWithin: ReadonlyMap<string, ReadonlySet<number | undefined>> | undefined;

  constructor(patterns: Iterable<HostPattern>) {
    this.#byText = new Map([...patterns].map((pattern) => [pattern.text, pattern]));
    for (const pattern of this.#byText.values()) {
      const spelled = spelledWithoutPort(pattern);
      const known = this.#byHost.get(spelled);
      if (known === undefined) this.#byHost.set(spelled, [pattern]);
      else known.push(pattern);
    }
  }

  /** The patterns, each once. */
  get patterns(): Iterable<HostPattern> {
    return this.#byText.values();
  }

  /** The patterns that cover the host of a pattern and do not name a different port. */
  around(pattern: HostPattern): HostPattern[] {
    const { port } = pattern;
    return spellingsAround(pattern).flatMap((spelled) =>
      port === undefined
        ? (this.#byHost.get(spelled) ?? [])
        : textsAt(spelled, port).flatMap((text) => this.#byText.get(text) ?? []),
    );
  }

  /** Whether a pattern of the index covers everything that this pattern covers. */
  covers(pattern: HostPattern): boolean {
    return this.covering(pattern).length > 0;
  }

  /** Whether another pattern of the index covers everything that this pattern covers. */
  hasWider(pattern: HostPattern): boolean {
    return this.covering(pattern).some(({ text }) => text !== pattern.text);
  }

  /** Whether a pattern of the index and this pattern cover some host together. */
  meets(pattern: HostPattern): boolean {
    const { port } = pattern;
    // Of two patterns that share a host, one covers the other's host.
    this.#portsWithin ??= portsWithin(this.#byText.values());
    const ports = this.#portsWithin.get(spelledWithoutPort(pattern));
    if (ports !== undefined && (port === undefined || ports.has(undefined) || ports.has(port))) {
      return true;
    }
    return spellingsAround(pattern).some((spelled) =>
      port === undefined
        ? this.#byHost.has(spelled)
        : textsAt(spelled, port).some((text) => this.#byText.has(text)),
    );
  }

  /** The patterns of the index that cover everything that this pattern covers. */
  covering(pattern: HostPattern): HostPattern[] {
    return spellingsAround(pattern)
      .flatMap((spelled) => textsAt(spelled, pattern.port))
      .flatMap((text) => this.#byText.get(text) ?? [])
      .filter((wide) => meetHostPatterns(wide, pattern)?.text === pattern.text);
  }
}

/**
 * The pairs of two lists that cover some host together. The work grows with the lists and with the
 * pairs found, not with the product of the lists.
 */
export function hostMeets(a: Iterable<HostPattern>, b: Iterable<HostPattern>): HostMeet[] {
  const left = new HostIndex(a);
  const right = new HostIndex(b);
  const meets: HostMeet[] = [];
  const add = (one: HostPattern, other: HostPattern) => {
    const meet = meetHostPatterns(one, other);
    if (meet !== null) meets.push({ one, other, meet });
  };
  for (const one of left.patterns) for (const other of right.around(one)) add(one, other);
  for (const other of right.patterns) {
    for (const one of left.around(other)) {
      // The first loop found the pairs with the same host.
      if (one.kind !== other.kind || one.host !== other.host) add(one, other);
    }
  }
  return meets;
}

/** By spelling, the ports of the patterns that have this host or one within it. */
function portsWithin(patterns: Iterable<HostPattern>): Map<string, Set<number | undefined>> {
  const ports = new Map<string, Set<number | undefined>>();
  for (const pattern of patterns) {
    for (const spelled of spellingsAround(pattern)) {
      const known = ports.get(spelled);
      if (known === undefined) ports.set(spelled, new Set([pattern.port]));
      else known.add(pattern.port);
    }
  }
  return ports;
}

/** The pattern's own host, and every wider spelling that covers it. */
function spellingsAround(pattern: HostPattern): string[] {
  const { kind, host } = pattern;
  if (kind === 'any') return ['*'];
  const spellings = [spelledWithoutPort(pattern)];
  for (let dot = host.indexOf('.'); dot !== -1; dot = host.indexOf('.', dot + 1)) {
    spellings.push(`*${host.slice(dot)}`);
  }
  return [...spellings, '*'];
}

function spelledWithoutPort({ kind, host }: Pick<HostPattern, 'kind' | 'host'>): string {
  if (kind === 'any') return '*';
  return kind === 'suffix' ? `*.${host}` : host;
}

/** The patterns of a host that cover a port of it. */
function textsAt(spelled: string, port: number | undefined): string[] {
  return port === undefined ? [spelled] : [spelled, withPort(spelled, port)];
}
