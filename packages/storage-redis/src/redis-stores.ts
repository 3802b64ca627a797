import { assertOptions, MAX_TIMER_MS, type OptionNames } from '@ethosagent/policy';
import { EthosError, type KeyValueStoreFactory, type StoreOpener } from '@ethosagent/types';
import { type RedisAddress, RedisConnection } from './redis-connection.js';
import { createNamespace } from './redis-namespace.js';

export interface RedisStoresOptions {
  /**
   * The address of Redis: `redis://user:password@host:6379/0`, `rediss://…` for TLS, or the
   * absolute path of its socket.
   */
  url: string;
  /**
   * The start of each key's name, so that several programs can share a server. `ethos` when absent.
   */
  prefix?: string;
  /**
   * Milliseconds that a call waits for the connection, and then for the answer of the server.
   * 10,000 when absent.
   */
  timeoutMs?: number;
  /** Returns milliseconds since the epoch, for tests. The clock of the server when absent. */
  clock?: () => number;
}

/** The stores that Redis keeps for a runtime. Pass them as `stores`, alone or with other stores. */
export interface RedisStores {
  keyValue: StoreOpener<KeyValueStoreFactory>;
}

const OPTIONS: OptionNames<RedisStoresOptions> = {
  url: true,
  prefix: true,
  timeoutMs: true,
  clock: true,
};

/**
 * Creates a key-value store that many machines can share, on one Redis (or Valkey) of version 7 or
 * newer. It connects when `open` is called; each `open` makes a connection of its own.
 *
 * The settings of the server decide what an acknowledged write survives: a power loss with
 * `appendonly yes` and `appendfsync always`, only an orderly shutdown with the defaults of Redis.
 *
 * @param options the address of the server
 * @returns the stores, for `stores` of `createToolRuntime`; `open` throws `STORE_UNAVAILABLE` if
 * the server can't be reached, refuses, or is too old
 * @throws `CONFIG_INVALID` for an invalid option; the message never contains the URL
 * @example
 * const runtime = await createToolRuntime({
 *   home: '/srv/agent/.ethos',
 *   personality: 'assistant',
 *   stores: createRedisStores({ url: 'redis://cache.internal:6379/0' }),
 * });
 */
export function createRedisStores(options: RedisStoresOptions): RedisStores {
  assertOptions('createRedisStores', options, OPTIONS);
  const { prefix = 'ethos', timeoutMs = 10_000, clock } = options;
  const address = addressOf(options.url);
  if (typeof prefix !== 'string' || !/^[\w.:-]{1,64}$/.test(prefix)) {
    throw invalid('prefix must be 1 to 64 letters, digits, `_`, `.`, `:` or `-`');
  }
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > MAX_TIMER_MS) {
    throw invalid(`timeoutMs must be a whole number from 1 to ${MAX_TIMER_MS}`);
  }
  return {
    keyValue: {
      async open() {
        const connection = new RedisConnection({ address, timeoutMs });
        try {
          await connection.assertUsable();
        } catch (error) {
          await connection.close();
          throw error;
        }
        return {
          store: (_tool, scopeId) => createNamespace({ connection, prefix, clock }, scopeId),
          close: () => connection.close(),
          problem: () => connection.problem(),
        };
      },
    },
  };
}

function addressOf(url: unknown): RedisAddress {
  if (typeof url === 'string' && url.startsWith('/')) return { path: url, where: 'its socket' };
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^rediss?:$/.test(parsed.protocol)) {
    throw invalid(
      'url must be like `redis://host:6379/0` or `rediss://…`, or the path of a socket',
    );
  }
  return { url: parsed.href, where: parsed.host };
}

function invalid(detail: string): EthosError {
  return new EthosError('CONFIG_INVALID', `createRedisStores: ${detail}`);
}
