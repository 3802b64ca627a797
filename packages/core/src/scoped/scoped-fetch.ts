import { parseUrl, unawaited } from '@ethosagent/policy';
import {
  createNetworkGuard,
  type GuardedFetchOptions,
  type LookupFunction,
  type NetworkGuard,
} from '@ethosagent/safety-network';
import type { NetworkPolicy, ScopedFetch, ScopedSecretsResolver } from '@ethosagent/types';
import { type AccessScope, denialRule } from '../access.js';
import type { Access } from '../call-scope.js';
import { RequestHandles } from '../secret-handles.js';

export interface ScopedFetchOptions {
  /**
   * The operator's policy. Without it, the exact hosts of the set count as named by the operator.
   */
  policy?: NetworkPolicy;
  /** Replaces the global `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** Replaces the system's name resolution. */
  lookup?: LookupFunction;
  /** A guard for exactly these hosts and this policy, so that calls share its connections. */
  guard?: NetworkGuard | undefined;
  scope?: AccessScope | undefined;
  /** The secrets of the same call. Their handles are replaced in requests. */
  secrets?: ScopedSecretsResolver | undefined;
  /** As in `GuardedFetchOptions`. */
  idleTimeoutMs?: number | undefined;
}

/** Fetch that is limited to a host set and the address floor on every hop. */
export class ScopedFetchImpl implements ScopedFetch {
  readonly #guard: NetworkGuard;
  readonly #scope: AccessScope | undefined;
  readonly #secrets: ScopedSecretsResolver | undefined;
  readonly #idleTimeoutMs: number | undefined;

  /**
   * The fetch of one call.
   *
   * @param allowedHosts host patterns, resolved against the personality
   * @param options the guard, timeouts in milliseconds, and the scope of the call
   */
  constructor(allowedHosts: ReadonlySet<string>, options: ScopedFetchOptions = {}) {
    this.#idleTimeoutMs = options.idleTimeoutMs;
    const { policy, fetch, lookup } = options;
    this.#guard = options.guard ?? createNetworkGuard({ allowedHosts, policy, fetch, lookup });
    this.#scope = options.scope;
    this.#secrets = options.secrets;
  }

  /**
   * As WHATWG `fetch`; ends with the call.
   * @throws `HOST_NOT_ALLOWED`, `SECRET_NOT_BOUND`, `QUOTA_EXCEEDED`, `NETWORK_FAILED`,
   * `NETWORK_TIMEOUT`, `BODY_TOO_LARGE`, `TOO_MANY_REDIRECTS`, or an `AbortError`
   */
  fetch(url: string | URL, init?: RequestInit): Promise<Response> {
    return unawaited(this.#fetch(url, init));
  }

  /**
   * Checks a URL by its text, without a request.
   *
   * @param url absolute
   * @throws `HOST_NOT_ALLOWED` for a host, scheme or port outside the reach
   */
  assertUrl(url: string): void {
    this.#guard.assertUrl(url);
  }

  async #fetch(url: string | URL, init?: RequestInit): Promise<Response> {
    const scope = this.#scope;
    const handles = this.#secrets && new RequestHandles(this.#secrets);
    if (scope === undefined && handles === undefined) return this.#guard.fetch(url, init);
    let isRecorded = false;
    let endHop = () => {};
    const record = (access: Access) => {
      // The request counts as decided, even if the record fails.
      isRecorded = true;
      endHop();
      const startedAt = performance.now();
      const event = scope?.record(access);
      endHop = () => scope?.complete(event, startedAt);
    };
    try {
      scope?.assertLive();
      const guarding = { scope, handles, record, idleTimeoutMs: this.#idleTimeoutMs };
      const response = await this.#guard.fetch(url, init, guardedOptions(guarding));
      return handles === undefined ? response : handles.scrub(response);
    } catch (error) {
      // The request was aborted, or its call ended, before its first hop was checked.
      if (!isRecorded) {
        const reason = denialRule(error) ?? 'over before it was judged';
        scope?.record(accessTo(targetOf(url), { decision: 'denied', reason }));
      }
      throw handles === undefined ? error : handles.scrubError(error);
    } finally {
      // The tool reads the body later, at its own pace.
      endHop();
    }
  }
}

interface Guarding {
  readonly scope: AccessScope | undefined;
  readonly handles: RequestHandles | undefined;
  readonly record: (access: Access) => void;
  readonly idleTimeoutMs: number | undefined;
}

function guardedOptions(guarding: Guarding): GuardedFetchOptions {
  const { scope, handles, record, idleTimeoutMs } = guarding;
  return {
    idleTimeoutMs,
    ...(handles && { prepare: (url, init) => handles.prepare(url, init) }),
    ...(scope && {
      signal: scope.signal,
      onAccess: ({ url: target, decision, rule, entries: basis }) => {
        const reason = decision === 'allowed' ? `matched ${rule}` : rule;
        record(accessTo(target, { decision, reason, basis }));
        if (decision !== 'allowed') return;
        // Sources are stored, and shown in the questions for the approval of later calls.
        scope.taint?.sources?.noteUrl(scope.redactor?.redact(target) ?? target);
        handles?.record(scope);
      },
    }),
    ...(scope?.capsNetwork && { onSpend: (amounts) => scope.spendAll(amounts) }),
  };
}

function accessTo(
  target: string,
  { decision, reason, basis }: Pick<Access, 'decision' | 'reason' | 'basis'>,
): Access {
  return { capability: 'network', operation: 'fetch', target, decision, reason, basis };
}

// Leaves out the query, which may hold a secret.
function targetOf(url: string | URL): string {
  const parsed = parseUrl(url);
  if (parsed === null) return 'an invalid URL';
  const { protocol, host, pathname } = parsed;
  // What follows `data:` is content, and may hold a secret as well.
  const isPlace = protocol === 'http:' || protocol === 'https:';
  return isPlace ? `${protocol}//${host}${pathname}` : protocol;
}
