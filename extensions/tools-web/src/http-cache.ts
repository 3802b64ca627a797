import { createHash } from 'node:crypto';
import type { KeyValueStore } from '@ethosagent/types';
import type CachePolicy from 'http-cache-semantics';
import { z } from 'zod';

/** An answer of a server. */
export interface Answer {
  status: number;
  headers: Headers;
  bytes: Uint8Array;
}

/** The stored answer to a request. */
export interface CacheHit {
  answer: Answer;
  /** Whether the answer may be used without asking the server. */
  isFresh: boolean;
  /** The headers to send, so that the server need not send the whole answer again. */
  revalidationHeaders: Record<string, string>;
  /**
   * Takes the server's answer to that request. Returns the stored answer when it is still valid,
   * else `undefined`.
   */
  revalidated(answer: Answer): Promise<Answer | undefined>;
}

/** How much all namespaces together may hold. */
export interface CacheLimits {
  maxEntries: number;
  maxBytes: number;
  maxEntryBytes: number;
}

export const CACHE_LIMITS: CacheLimits = {
  maxEntries: 500,
  maxBytes: 64 * 1024 * 1024,
  maxEntryBytes: 2 * 1024 * 1024,
};

const MAX_TTL_SECONDS = 7 * 24 * 3_600;
// An answer with a validator is still useful when it is no longer fresh.
const STALE_TTL_SECONDS = 24 * 3_600;

const storedEntry = z.object({
  url: z.string(),
  policy: z.custom<CachePolicy.CachePolicyObject>(
    (value) => typeof value === 'object' && value !== null,
  ),
  status: z.int(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  body: z.base64(),
});

type Headered = Record<string, string>;

/**
 * Keeps answers of servers by the rules of HTTP caching (RFC 9111) for shared caches: nothing that
 * is `private` or `no-store`.
 *
 * There is no index besides the keys: `<namespace>/<hash of the URL>/<milliseconds>-<bytes>`. So
 * two calls at the same time can't overwrite each other's index, and no lock is needed.
 */
export class HttpCache {
  readonly #kv: KeyValueStore;
  readonly #prefix: string;
  readonly #limits: CacheLimits;

  /** @param namespace callers with the same namespace see the same answers */
  constructor(kv: KeyValueStore, namespace: string, limits: CacheLimits = CACHE_LIMITS) {
    this.#kv = kv;
    this.#prefix = `${hash(namespace)}/`;
    this.#limits = limits;
  }

  /**
   * Finds the stored answer to a request.
   *
   * @param headers of the request that is about to be sent, with names in lower case
   */
  async find(url: string, headers: Headered): Promise<CacheHit | undefined> {
    const [key] = (await this.#kv.list(this.#keyPrefix(url))).reverse();
    const value = key === undefined ? null : await this.#kv.get(key);
    const entry = parseEntry(value);
    if (entry === undefined || entry.url !== url) return undefined;
    const { default: CachePolicy } = await import('http-cache-semantics');
    const policy = readPolicy(CachePolicy, entry.policy);
    if (policy === undefined) return undefined;
    const request = { url, method: 'GET', headers };
    const isFresh = policy.satisfiesWithoutRevalidation(request);
    const stored: Answer = {
      status: entry.status,
      headers: new Headers(isFresh ? plainHeaders(policy.responseHeaders()) : entry.headers),
      bytes: Buffer.from(entry.body, 'base64'),
    };
    return {
      answer: stored,
      isFresh,
      revalidationHeaders: plainHeaders(policy.revalidationHeaders(request)),
      revalidated: async (answer) => {
        const outcome = policy.revalidatedPolicy(request, {
          status: answer.status,
          headers: Object.fromEntries(answer.headers),
        });
        if (outcome.modified) return undefined;
        const renewed = new Headers(plainHeaders(outcome.policy.responseHeaders()));
        const { status, bytes } = stored;
        await this.#write(url, outcome.policy, { status, headers: renewed, bytes });
        return { status, headers: renewed, bytes };
      },
    };
  }

  /** Keeps an answer if the rules of HTTP allow it and it fits. */
  async store(url: string, headers: Headered, answer: Answer): Promise<void> {
    const { default: CachePolicy } = await import('http-cache-semantics');
    const policy = new CachePolicy(
      { url, method: 'GET', headers },
      { status: answer.status, headers: Object.fromEntries(answer.headers) },
      { shared: true },
    );
    await this.#write(url, policy, answer);
  }

  async #write(url: string, policy: CachePolicy, answer: Answer): Promise<void> {
    const older = await this.#kv.list(this.#keyPrefix(url));
    const ttlSeconds = secondsToKeep(policy, answer.headers);
    if (ttlSeconds > 0 && answer.bytes.byteLength <= this.#limits.maxEntryBytes) {
      const entry: z.infer<typeof storedEntry> = {
        url,
        policy: policy.toObject(),
        status: answer.status,
        headers: [...answer.headers],
        body: Buffer.from(answer.bytes).toString('base64'),
      };
      const now = String(Date.now()).padStart(15, '0');
      const key = `${this.#keyPrefix(url)}${now}-${answer.bytes.byteLength}`;
      await this.#kv.set(key, JSON.stringify(entry), { ttlSeconds });
      const at = older.indexOf(key);
      if (at >= 0) older.splice(at, 1);
    }
    // The old answers are removed even when the new one is not kept: they are no longer valid.
    for (const key of older) await this.#kv.delete(key);
    await this.#evict();
  }

  /** Removes the oldest answers until the rest fits. */
  async #evict(): Promise<void> {
    const entries = (await this.#kv.list(''))
      .map((key) => ({ key, ...partsOf(key) }))
      .sort((one, other) => one.storedAt - other.storedAt);
    let bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
    let count = entries.length;
    for (const entry of entries) {
      if (count <= this.#limits.maxEntries && bytes <= this.#limits.maxBytes) return;
      await this.#kv.delete(entry.key);
      bytes -= entry.bytes;
      count -= 1;
    }
  }

  #keyPrefix(url: string): string {
    return `${this.#prefix}${hash(url)}/`;
  }
}

function secondsToKeep(policy: CachePolicy, headers: Headers): number {
  if (!policy.storable()) return 0;
  const fresh = policy.timeToLive() / 1_000;
  const isValidated = headers.has('etag') || headers.has('last-modified');
  return Math.min(Math.max(fresh, isValidated ? STALE_TTL_SECONDS : 0), MAX_TTL_SECONDS);
}

function parseEntry(value: string | null): z.infer<typeof storedEntry> | undefined {
  if (value === null) return undefined;
  try {
    return storedEntry.safeParse(JSON.parse(value)).data;
  } catch {
    return undefined;
  }
}

function readPolicy(
  Policy: typeof CachePolicy,
  stored: CachePolicy.CachePolicyObject,
): CachePolicy | undefined {
  try {
    return Policy.fromObject(stored);
  } catch {
    // Another version wrote it; it is ignored.
    return undefined;
  }
}

function plainHeaders(headers: Record<string, string | string[] | undefined>): Headered {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, [value].flat().join(', ')]],
    ),
  );
}

function partsOf(key: string): { storedAt: number; bytes: number } {
  const [storedAt, bytes] = (key.split('/').at(-1) ?? '').split('-').map(Number);
  return { storedAt: storedAt || 0, bytes: bytes || 0 };
}

function hash(text: string): string {
  // In hexadecimal, so that a server can not write words into a list of keys.
  return createHash('sha256').update(text).digest('hex');
}
