import {
  errorCodeOf,
  type KeyValueStore,
  STORAGE_SCOPES,
  type StorageScope,
} from '@ethosagent/types';
import type { AccessScope } from '../access.js';
import type { CapabilityBackends } from '../backends.js';
import { checkedKv } from '../checked/checked-kv.js';
import { turnsOf } from '../scoped/namespace-turns.js';
import { type ScopedKvOptions, scopedKv } from '../scoped/scoped-kv.js';
import { type TaintedKvOptions, taintedKv } from '../scoped/tainted-kv.js';
import type { ResolveContext } from './capability-call.js';
import { type CapabilityProblem, defineCapability } from './capability-module.js';
import { declaredPart } from './declared-part.js';
import { problem, quote } from './shapes.js';

/** A key-value namespace, through `kvStore`. */
export const storage = defineCapability('storage', {
  isForServices: true,
  shapeProblem: (declared) => {
    const { scope, kind }: { scope?: unknown; kind?: unknown } = Object(declared);
    return isStorageScope(scope) && kind === 'kv'
      ? undefined
      : "storage is not { scope, kind: 'kv' } with a known scope";
  },
  malformed: ({ scope, kind, ttlSecondsDefault: ttl }) => {
    const problems: CapabilityProblem[] = [];
    if (!isStorageScope(scope)) {
      problems.push(problem('storage', `${quote(scope)} is not a storage scope`));
    }
    if (kind !== 'kv') problems.push(problem('storage', `${quote(kind)} is not kv`));
    if (ttl !== undefined && !(Number.isFinite(ttl) && ttl > 0)) {
      problems.push(problem('storage', `ttlSecondsDefault ${ttl} is not a number above zero`));
    }
    return problems;
  },
  compile: ({ scope, ttlSecondsDefault, concurrency }, { name, backends }) => {
    const namespaceOf = namespacesOf(scope, name);
    const declared = { name, scope, ttlSecondsDefault, isParallel: concurrency === 'parallel' };
    return {
      bind: ({ ctx, scope: life, service, accessors }) => {
        const factory = backends.kvStoreFactory;
        if (factory === undefined) return;
        const namespace = namespaceOf(ctx);
        const store = checkedKv(factory, name, namespace);
        const isOfService = service !== undefined;
        const options = new StoreOptions(declared, { factory, namespace, life, isOfService });
        accessors.kvStore = scopedKv(
          isWatched(options) ? taintedKv(store, options) : store,
          options,
        );
      },
      why: (_, { tool }) => ({ declared: declaredPart('storage.scope', scope), policy: tool() }),
      describe: () => ({ storage: { scope } }),
    };
  },
});

/** What a declaration says of a store. */
interface DeclaredStore {
  name: string;
  scope: StorageScope;
  ttlSecondsDefault: number | undefined;
  isParallel: boolean;
}

/** The store of one call or service. */
interface StoreOfCall {
  factory: NonNullable<CapabilityBackends['kvStoreFactory']>;
  namespace: string;
  life: AccessScope | undefined;
  isOfService: boolean;
}

/** The options of a call's store, worked out only if it uses the store. */
class StoreOptions implements ScopedKvOptions {
  readonly #declared: DeclaredStore;
  readonly #of: StoreOfCall;

  constructor(declared: DeclaredStore, of: StoreOfCall) {
    this.#declared = declared;
    this.#of = of;
  }

  get ttlSecondsDefault() {
    return this.#declared.ttlSecondsDefault;
  }

  get scope() {
    return this.#of.life;
  }

  get life() {
    return this.#of.life;
  }

  get taint() {
    return this.#of.life?.taint;
  }

  get sharing() {
    return this.#declared.scope;
  }

  get namespace() {
    return this.#of.namespace;
  }

  /** A service has no end at which it would give the namespace back to the calls. */
  get turns() {
    const { factory, isOfService } = this.#of;
    return isOfService || this.#declared.isParallel ? undefined : turnsOf(factory);
  }

  now(): number {
    return Date.now();
  }

  marks(): KeyValueStore {
    const { factory, namespace } = this.#of;
    return checkedKv(factory, this.#declared.name, marksOf(namespace));
  }
}

/**
 * Removes what the tools of a session keep in its store, and then the marks of what is untrusted
 * there.
 *
 * @returns whether there was anything
 * @throws the `STORE_…` codes; some of it may still be there then
 */
export async function clearSessionStore(
  factory: NonNullable<CapabilityBackends['kvStoreFactory']>,
  sessionId: string,
): Promise<boolean> {
  const namespace = sessionNamespace(sessionId);
  let wasThere = false;
  try {
    for (const each of [namespace, marksOf(namespace)]) {
      const store = checkedKv(factory, 'sessions', each);
      for (const key of await store.list('')) {
        await store.delete(key);
        wasThere = true;
      }
    }
  } catch (error) {
    // The store takes no namespace as long as this one, so it has none.
    if (errorCodeOf(error) !== 'KEY_INVALID') throw error;
  }
  return wasThere;
}

/** Whether somebody asks where the text in the store comes from. */
function isWatched(options: StoreOptions): options is StoreOptions & TaintedKvOptions {
  return options.taint !== undefined;
}

function isStorageScope(scope: unknown): scope is StorageScope {
  return STORAGE_SCOPES.some((known) => known === scope);
}

/** Gives the id of the namespace of a tool's key-value store, for a call. */
function namespacesOf(
  scope: StorageScope,
  toolName: string,
): (ctx: Pick<ResolveContext, 'sessionId' | 'personalityId'>) => string {
  switch (scope) {
    case 'tool-private': {
      // The same text each time: to look up one that is new takes longer.
      const namespace = `tool:${toolName}`;
      return () => namespace;
    }
    case 'session':
      return ({ sessionId }) => sessionNamespace(sessionId);
    case 'personality':
      return ({ personalityId, sessionId }) => `personality:${personalityId ?? sessionId}`;
  }
}

function sessionNamespace(sessionId: string): string {
  return `session:${sessionId}`;
}

/** The namespace of the marks of another one. */
function marksOf(namespace: string): string {
  return `untrusted:${namespace}`;
}
