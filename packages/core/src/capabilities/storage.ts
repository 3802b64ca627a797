import { STORAGE_SCOPES, type StorageScope } from '@ethosagent/types';
import { checkedKv } from '../checked/checked-kv.js';
import { turnsOf } from '../scoped/namespace-turns.js';
import { scopedKv } from '../scoped/scoped-kv.js';
import { taintedKv } from '../scoped/tainted-kv.js';
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
    return {
      bind: ({ ctx, scope: life, service, accessors }) => {
        const factory = backends.kvStoreFactory;
        if (factory === undefined) return;
        const namespace = namespaceOf(ctx);
        // A service has no end at which it would give the namespace back to the calls.
        const isParallel = service !== undefined || concurrency === 'parallel';
        const store = checkedKv(factory, name, namespace);
        const taint = life?.taint;
        const carrying =
          life === undefined || taint === undefined
            ? store
            : taintedKv(store, {
                taint,
                scope,
                life,
                now: Date.now,
                marks: () => checkedKv(factory, name, `untrusted:${namespace}`),
              });
        accessors.kvStore = scopedKv(carrying, {
          ttlSecondsDefault,
          scope: life,
          namespace,
          turns: isParallel ? undefined : turnsOf(factory),
        });
      },
      why: (_, { tool }) => ({ declared: declaredPart('storage.scope', scope), policy: tool() }),
      describe: () => ({ storage: { scope } }),
    };
  },
});

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
      return ({ sessionId }) => `session:${sessionId}`;
    case 'personality':
      return ({ personalityId, sessionId }) => `personality:${personalityId ?? sessionId}`;
  }
}
