export interface ResolvedAddress {
  address: string;
  family: 4 | 6;
}

export function addressOf({ address }: ResolvedAddress): string {
  return address;
}

/** Returns all addresses of a host name. Rejects if the name has no address. */
export type LookupFunction = (hostname: string) => Promise<readonly { address: string }[]>;

/**
 * Long enough that a request and its connection see the same answer, and that many requests at once
 * ask only once. Short enough to notice a changed record.
 */
const FRESH_MS = 5_000;
const MAX_ENTRIES = 500;

/** Keeps the answers of a resolver for a few seconds. */
export class AddressBook {
  readonly #lookup: LookupFunction;
  readonly #entries = new Map<string, { until: number; answer: Promise<ResolvedAddress[]> }>();

  constructor(lookup: LookupFunction = systemLookup) {
    this.#lookup = lookup;
  }

  /** Returns all addresses of the host. Rejects if the resolver fails or knows none. */
  resolve(hostname: string): Promise<ResolvedAddress[]> {
    const now = performance.now();
    const known = this.#entries.get(hostname);
    if (known && known.until > now) return known.answer;
    const answer = this.#ask(hostname);
    this.#entries.delete(hostname);
    this.#entries.set(hostname, { until: now + FRESH_MS, answer });
    // A failure is not kept as an answer: the next request asks again.
    answer.catch(() => {
      if (this.#entries.get(hostname)?.answer === answer) this.#entries.delete(hostname);
    });
    if (this.#entries.size > MAX_ENTRIES) {
      for (const oldest of this.#entries.keys()) {
        this.#entries.delete(oldest);
        break;
      }
    }
    return answer;
  }

  async #ask(hostname: string): Promise<ResolvedAddress[]> {
    const found = await this.#lookup(hostname);
    if (found.length === 0) throw new Error('the resolver knows no address');
    return found.map(({ address }) => ({ address, family: address.includes(':') ? 6 : 4 }));
  }
}

async function systemLookup(hostname: string): Promise<readonly { address: string }[]> {
  const { lookup } = await import('node:dns/promises');
  return lookup(hostname, { all: true });
}
