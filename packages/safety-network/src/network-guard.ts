import type { Socket } from 'node:net';
import { isIpLiteral, normalizeHost, parseUrl } from '@ethosagent/policy';
import { EthosError, type NetworkPolicy } from '@ethosagent/types';
import { AddressBook, type LookupFunction, type ResolvedAddress } from './address-book.js';
import type { ConnectOptions } from './connection.js';
import { denialError, deny, redirectedTo } from './denials.js';
import { Hop, type HopContext, type NetworkAccess, type NetworkSpending } from './hop.js';
import { NetworkRules } from './network-rules.js';
import type { PinnedAgent } from './pinned-agent.js';
import { followRedirect, redirectTarget } from './redirects.js';
import { checkInit } from './request-init.js';
import { RequestLifetime } from './request-lifetime.js';

/** Limits of one request. */
export interface NetworkLimits {
  /** Milliseconds for the whole request with its redirects and body. 60,000 when absent. */
  timeoutMs?: number | undefined;
  /** Bytes that a body may have after decoding. 50 MB when absent. */
  maxBodyBytes?: number | undefined;
  /** Redirects that are followed. 5 when absent. */
  maxRedirects?: number | undefined;
}

export interface NetworkGuardOptions extends NetworkLimits {
  /** The host patterns that may be reached, already met with the policy. */
  allowedHosts: Iterable<string>;
  /**
   * What the tool declared, before it was met with the policy: a denial then says which of the two
   * lacks the host.
   */
  declaredHosts?: Iterable<string> | undefined;
  /**
   * Hosts that a request must be among beside all that. It opens nothing: neither a port nor a private
   * address that its entries name.
   */
  withinHosts?: Iterable<string> | undefined;
  /**
   * The operator's policy. An IP address or `localhost` that its `allow` names is reachable even
   * if private. Absent: the same goes for the entries of `allowedHosts`.
   */
  policy?: NetworkPolicy | undefined;
  /**
   * Called as `(url, init)` with a dispatcher in `init`, once every address of the host has been
   * judged: it may connect by itself. `globalThis.fetch` when absent.
   */
  fetch?: typeof globalThis.fetch | undefined;
  /** The resolver. The system's when absent. */
  lookup?: LookupFunction | undefined;
}

/** What belongs to one call. Limits win over those of the guard. */
export interface GuardedFetchOptions extends NetworkLimits {
  /**
   * Told of every hop once, before it is connected to. What it throws ends the request.
   */
  onAccess?: ((access: NetworkAccess) => void) | undefined;
  /** Beside `init.signal`. */
  signal?: AbortSignal | undefined;
  /**
   * Milliseconds that a body may be silent. When given, `timeoutMs` holds until the headers are
   * there, and an event stream (`text/event-stream`) may have any number of bytes.
   */
  idleTimeoutMs?: number | undefined;
  /**
   * Called for every hop once its URL has been judged, with what is about to be sent; what it gives
   * is sent instead. The next hop starts from the unprepared `init` again. What it throws ends the
   * request before there is a connection.
   */
  prepare?: ((url: URL, init: RequestInit) => RequestInit | Promise<RequestInit>) | undefined;
  /**
   * Told of what the request uses up: each hop with its bytes at once, before it is connected to,
   * and the bytes of a body as they come. What it throws ends the request.
   */
  onSpend?: ((amounts: Partial<Record<NetworkSpending, number>>) => void) | undefined;
}

const DEFAULT_LIMITS = { timeoutMs: 60_000, maxBodyBytes: 50 * 1024 * 1024, maxRedirects: 5 };

/** Keeps the lifetime of a request from garbage collection as long as its response. */
const lifetimes = new WeakMap<Response, RequestLifetime>();

/**
 * A `fetch` that is held to a host set and a policy, on every hop and every connection.
 *
 * Make one per host set and policy, and keep it: its connections are shared by its requests, and
 * by no others. Making one is cheap; undici is loaded by the first request that goes out.
 */
export class NetworkGuard {
  readonly #options: NetworkGuardOptions;
  readonly #rules: NetworkRules;
  readonly #addresses: AddressBook;
  #agent: Promise<PinnedAgent> | undefined;
  /** Those of `connect`. */
  readonly #sockets = new Set<Socket>();
  #isClosed = false;

  /**
   * Like `createNetworkGuard`.
   *
   * @param options the hosts, the policy, limits, and the lookup of names
   * @throws `CONFIG_INVALID` for a rule of `policy.deny` that does not parse
   */
  constructor(options: NetworkGuardOptions) {
    this.#options = options;
    const { allowedHosts, policy, declaredHosts, withinHosts } = options;
    this.#rules = new NetworkRules(allowedHosts, policy, declaredHosts, withinHosts);
    this.#addresses = new AddressBook(options.lookup);
  }

  /**
   * As WHATWG `fetch`, for absolute http and https URLs.
   *
   * @param url absolute
   * @param init as for `fetch`
   * @param options limits in milliseconds and bytes, and hooks of the caller
   * @returns the response of the last hop
   * @throws `HOST_NOT_ALLOWED` for a hop to a host, address or port outside the reach
   * @throws `NETWORK_TIMEOUT` when the request takes longer than its limit
   * @throws `NETWORK_FAILED` when there is no connection or no valid answer
   * @throws `BODY_TOO_LARGE`, also while the body is read
   * @throws `TOO_MANY_REDIRECTS` after as many as allowed
   * @throws what a callback of `options` throws, and the reason of an aborted signal
   */
  async fetch(
    url: string | URL,
    init: RequestInit = {},
    options: GuardedFetchOptions = {},
  ): Promise<Response> {
    const lifetime = new RequestLifetime(this.#limit('timeoutMs', options), [
      init.signal,
      options.signal,
    ]);
    try {
      lifetime.throwIfFailed();
      if (this.#isClosed) throw new EthosError('NETWORK_FAILED', 'the network guard is closed');
      const response = await this.#follow(url, init, { options, lifetime });
      if (options.idleTimeoutMs !== undefined) lifetime.waitWhileBytesCome(options.idleTimeoutMs);
      lifetimes.set(response, lifetime);
      return response;
    } catch (error) {
      lifetime.fail(error);
      throw error;
    }
  }

  /**
   * A TCP connection to the host and port of a URL, for protocols that `fetch` does not speak. It
   * is checked and reported like a request. What is sent over it is not looked at.
   *
   * @param url with a host and a port
   * @param options limits in milliseconds, and hooks of the caller
   * @returns the connected socket
   * @throws `HOST_NOT_ALLOWED` for a host, address or port outside the reach
   * @throws `NETWORK_TIMEOUT` when there is no connection in time
   * @throws `NETWORK_FAILED` when there is no connection, or the guard is closed
   * @throws what a callback of `options` throws, and the reason of an aborted signal
   */
  async connect(url: URL, options: ConnectOptions): Promise<Socket> {
    if (this.#isClosed) throw new EthosError('NETWORK_FAILED', 'the network guard is closed');
    const { openConnection } = await import('./connection.js');
    const resolveChecked = (host: string, port: number) => this.#resolveChecked(host, port);
    const socket = await openConnection(url, { rules: this.#rules, resolveChecked }, options);
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    if (this.#isClosed) socket.destroy();
    return socket;
  }

  /**
   * Checks a URL without looking up its host.
   *
   * @param input absolute
   * @throws `HOST_NOT_ALLOWED` for a scheme, host, address or port outside the reach
   */
  assertUrl(input: string | URL): void {
    const verdict = this.#rules.judgeUrl(parseTarget(input, {}));
    if (verdict.decision === 'denied') throw denialError(verdict);
  }

  /** Ends every connection and the requests on them. Later requests fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const socket of this.#sockets) socket.destroy();
    await (await this.#agent)?.destroy();
  }

  async #follow(
    input: string | URL,
    init: RequestInit,
    { options, lifetime }: { options: GuardedFetchOptions; lifetime: RequestLifetime },
  ): Promise<Response> {
    const maxBodyBytes = this.#limit('maxBodyBytes', options);
    const isEndless = (type: string) => options.idleTimeoutMs !== undefined && isEventStream(type);
    const context: HopContext = {
      lifetime,
      rules: this.#rules,
      maxBodyBytes: (type) => (isEndless(type) ? Number.POSITIVE_INFINITY : maxBodyBytes),
      fetch: this.#options.fetch ?? globalThis.fetch,
      onAccess: options.onAccess,
      onSpend: options.onSpend,
      checkAddresses: (host, port) => this.#resolveChecked(host, port),
      checkBeforehand: (host, port) => this.#checkBeforehand(host, port),
      agent: () => this.#getAgent(),
    };
    const maxRedirects = this.#limit('maxRedirects', options);
    const redirect = init.redirect ?? 'follow';
    let url = parseTarget(input, options);
    let hopInit: RequestInit | undefined;
    for (let redirects = 0; ; redirects += 1) {
      const hop = new Hop(url, context);
      try {
        hop.judge();
        hopInit ??= checkInit(init);
        const { prepare } = options;
        const sent = prepare ? await lifetime.race(prepared(prepare, url, hopInit)) : hopInit;
        const response = await hop.send(sent);
        hop.settle();
        const target = redirect === 'manual' ? null : redirectTarget(response, url);
        if (target === null) return hop.answer(response, redirects > 0);
        hop.discard(response);
        if (redirect === 'error') {
          throw new EthosError('NETWORK_FAILED', `${url.host} redirects; init.redirect forbids it`);
        }
        if (!(redirects < maxRedirects)) {
          throw new EthosError('TOO_MANY_REDIRECTS', `more than ${maxRedirects} redirects`);
        }
        hopInit = followRedirect(hopInit, { status: response.status, from: url, to: target });
        url = target;
      } catch (error) {
        hop.settle(error);
        throw redirects > 0 ? redirectedTo(url, error) : error;
      }
    }
  }

  async #resolveChecked(host: string, port: number): Promise<readonly ResolvedAddress[]> {
    const literal = normalizeHost(host);
    if (literal !== null && isIpLiteral(literal)) {
      this.#assertAddresses(literal, port, [{ address: literal }]);
      return [];
    }
    const addresses = await this.#addresses.resolve(host).catch((cause: unknown) => {
      throw denialError(addressUnknown(host), { cause });
    });
    this.#assertAddresses(host, port, addresses);
    return addresses;
  }

  /**
   * A name without an address leads nowhere, so a `fetch` that a test has stubbed needs no network.
   * Where the host itself says how requests go out or how names resolve, there may be an address
   * that the lookup doesn't know, and the request is refused.
   */
  async #checkBeforehand(host: string, port: number): Promise<readonly ResolvedAddress[]> {
    const { fetch, lookup } = this.#options;
    const addresses = await this.#addresses.resolve(host).catch((cause: unknown) => {
      if (fetch === undefined && lookup === undefined) return [];
      throw denialError(addressUnknown(host, 'pass a lookup that knows it'), { cause });
    });
    this.#assertAddresses(host, port, addresses);
    return addresses;
  }

  #assertAddresses(host: string, port: number, found: readonly { address: string }[]): void {
    const addresses = found.map(({ address }) => address);
    const denial = this.#rules.judgeAddresses(host, port, addresses);
    if (denial) throw denialError(denial);
  }

  #getAgent(): Promise<PinnedAgent> {
    this.#agent ??= import('./pinned-agent.js').then(
      ({ PinnedAgent }) => new PinnedAgent((host, port) => this.#resolveChecked(host, port)),
    );
    return this.#agent;
  }

  #limit(name: keyof NetworkLimits, options: GuardedFetchOptions): number {
    return options[name] ?? this.#options[name] ?? DEFAULT_LIMITS[name];
  }
}

function addressUnknown(
  host: string,
  remedy = 'check the name, and that this machine resolves it',
) {
  const detail = `${host} could not be resolved, so its addresses can not be checked; ${remedy}`;
  return deny('address unknown', detail);
}

function isEventStream(type: string): boolean {
  return /^\s*text\/event-stream\s*(;|$)/i.test(type);
}

function parseTarget(input: string | URL, { onAccess }: GuardedFetchOptions): URL {
  const url = parseUrl(input);
  if (url !== null) return url;
  const rule = 'malformed URL';
  onAccess?.({ url: '', host: '', decision: 'denied', rule, entries: {} });
  throw denialError(
    deny(rule, 'the URL is malformed or not absolute; write it as in https://example.com/path'),
  );
}

async function prepared(
  prepare: NonNullable<GuardedFetchOptions['prepare']>,
  url: URL,
  init: RequestInit,
): Promise<RequestInit> {
  return prepare(url, init);
}

/**
 * A guard for one host set and one policy.
 *
 * @param options the hosts, the policy, limits, and the lookup of names
 * @returns the guard; `close` ends its connections
 * @throws `CONFIG_INVALID` for a deny rule that does not parse
 */
export function createNetworkGuard(options: NetworkGuardOptions): NetworkGuard {
  return new NetworkGuard(options);
}
