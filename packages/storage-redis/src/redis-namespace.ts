import {
  assertKvKey,
  assertKvValue,
  DEFAULT_KV_LIMITS,
  incrementKvValue,
  kvExpiresAt,
} from '@ethosagent/policy';
import type { KeyValueStore } from '@ethosagent/types';
import type { RedisConnection } from './redis-connection.js';

const LIMITS = DEFAULT_KV_LIMITS;

export interface NamespaceOptions {
  connection: RedisConnection;
  prefix: string;
  clock: (() => number) | undefined;
}

interface Call {
  call: 'get' | 'set' | 'delete' | 'list' | 'increment' | 'compareAndSet';
  /** The key, or the prefix of a list. */
  key: string;
  lifetimeMs?: number | null;
  /** The value to write, or the step of an increment. */
  value?: string;
  expected?: string | null;
}

/**
 * Creates one namespace of a store. Its data is in closures, so a tool can't reach the rest of the
 * store.
 */
export function createNamespace(
  { connection, prefix, clock }: NamespaceOptions,
  scopeId: string,
): Required<KeyValueStore> {
  assertKvKey(scopeId, LIMITS);
  // Because of the braces, the three keys are on the same node of a cluster.
  const keys = ['values', 'names', 'expiries'].map(
    (part) => `${prefix}:{${encodeURIComponent(scopeId)}}:${part}`,
  );

  async function run({ call, key, lifetimeMs, value = '', expected = null }: Call) {
    const now = clock === undefined ? '' : String(Math.floor(clock()));
    const args = [call, now, key, String(lifetimeMs ?? ''), value];
    const answer = await connection.call(
      keys,
      [...args, expected === null ? '' : `+${expected}`],
      call === 'get' || call === 'list',
    );
    if (!Array.isArray(answer)) throw new TypeError('an answer of the script is a list');
    return { isDone: answer[0] === 1, result: answer[1] };
  }
  // The TTL is only checked here. The server adds its own time.
  const lifetimeOf = (ttlSeconds: unknown) => kvExpiresAt(ttlSeconds, 0);

  return {
    async get(key) {
      assertKvKey(key, LIMITS);
      const { result } = await run({ call: 'get', key });
      return result;
    },
    async set(key, value, opts) {
      assertKvKey(key, LIMITS);
      assertKvValue(value, LIMITS);
      await run({ call: 'set', key, value, lifetimeMs: lifetimeOf(opts?.ttlSeconds) });
    },
    async delete(key) {
      assertKvKey(key, LIMITS);
      await run({ call: 'delete', key });
    },
    async list(prefix) {
      assertKvKey(prefix, LIMITS);
      const { result } = await run({ call: 'list', key: prefix });
      return result;
    },
    async increment(key, by = 1, opts) {
      assertKvKey(key, LIMITS);
      const lifetimeMs = lifetimeOf(opts?.ttlSeconds);
      incrementKvValue(null, by);
      const value = String(by);
      const { isDone, result } = await run({ call: 'increment', key, value, lifetimeMs });
      // For a value that the server refuses, this throws the error with the reason.
      return isDone ? Number(result) : incrementKvValue(result, by);
    },
    // biome-ignore lint/complexity/useMaxParams: a documented signature
    async compareAndSet(key, expected, value, opts) {
      assertKvKey(key, LIMITS);
      if (expected !== null) assertKvValue(expected, LIMITS);
      assertKvValue(value, LIMITS);
      const lifetimeMs = lifetimeOf(opts?.ttlSeconds);
      const { isDone } = await run({ call: 'compareAndSet', key, expected, value, lifetimeMs });
      return isDone;
    },
  };
}
