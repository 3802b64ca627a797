import type { Socket } from 'node:net';
import {
  assertOptions,
  isIpLiteral,
  normalizeHost,
  type OptionNames,
  parseUrl,
} from '@ethosagent/policy';
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
  /** Milliseconds for the whole request, with its redirects and body. 60,000 when absent. */
  timeoutMs?: number | undefined;
  /** The most bytes of a body after decoding. 50 MB when absent. */
  maxBodyBytes?: number | undefined;
  /** The most redirects that are followed. 5 when absent. */
  maxRedirects?: number | undefined;
}

export interface NetworkGuardOptions extends NetworkLimits {
  /**
   * The host patterns that requests may reach: those that both the tool's declaration and the
   * policy allow.
   */
  allowedHosts: Iterable<string>;
  /**
   * The hosts that the tool declared. With them, a denial says whether the declaration or the
   * policy lacks the host.
   */
  declaredHosts?: Iterable<string> | undefined;
  /**
   * A further list that must contain each host. It only narrows: its entries open neither a port
   * nor a private address.
   */
  withinHosts?: Iterable<string> | undefined;
  /**
   * The operator's policy. An IP address or `localhost` in its `allow` can be reached even if it is
   * private. Without a policy, that holds for the entries of `allowedHosts`.
   */
  policy?: NetworkPolicy | undefined;
  /**
   * A `fetch` that replaces `globalThis.fetch`. It is called as `(url, init)`, with a dispatcher in
   * `init`, after every address of the host has been checked: it may open its own connection.
   */
  fetch?: typeof globalThis.fetch | undefined;
  /** The resolver of host names. The system's when absent. */
  lookup?: LookupFunction | undefined;
}

/** The options of one call. Limits replace those of the guard. */
export interface GuardedFetchOptions extends NetworkLimits {
  /**
   * Called once for every hop, before its connection is made. An error that it throws ends the
   * request.
   */
  onAccess?: ((access: NetworkAccess) => void) | undefined;
  /** A signal that ends the request, in addition to `init.signal`. */
  signal?: AbortSignal | undefined;
  /**
   * The most milliseconds without a byte of the body. If it is given, `timeoutMs` holds only until
   * the headers arrive, and an event stream (`text/event-stream`) may have any number of bytes, of
   * which at most 64 MiB wait to be read.
   */
  idleTimeoutMs?: number | undefined;
  /**
   * Called for every hop after its URL was checked, with the `init` that is about to be sent. The
   * returned `init` is sent instead. The next hop begins again with the original `init`. An error
   * that it throws ends the request before there is a connection.
   */
  prepare?: ((url: URL, init: RequestInit) => RequestInit | Promise<RequestInit>) | undefined;
  /**
   * Called with the amounts that the request uses up: for each hop, one request and the bytes to
   * send, before its connection is made; then the bytes of a body as they pass. An error that it
   * throws ends the request.
   */
  onSpend?: ((amounts: Partial<Record<NetworkSpending, number>>) => void) | undefined;
}

const DEFAULT_LIMITS = { timeoutMs: 60_000, maxBodyBytes: 50 * 1024 * 1024, maxRedirects: 5 };

/** Keeps the lifetime of a request from garbage collection as long as its response. */
const lifetimes = new WeakMap<Response, RequestLifetime>();

/**
 * A `fetch` that checks every hop and every connection against a host set and a policy.
 *
 * Create one guard for each host set and policy, and keep it: its requests share connections, and
 * never share them with another guard. Creating a guard is cheap; the first request that is sent
 * loads undici.
 */
export class NetworkGuard {
  readonly #options: NetworkGuardOptions;
  readonly #rules: NetworkRules;
  readonly #addresses: AddressBook;
  #agent: Promise<PinnedAgent> | undefined;
  /** The sockets that `connect` returned. */
  readonly #sockets = new Set<Socket>();
  /** Fires when the guard is closed. */
  readonly #closing = new AbortController();

  /**
   * Creates a guard for one host set and one policy.
   *
   * @param options the hosts, the policy, limits, and the lookup of names
   * @throws `CONFIG_INVALID` for an entry of `policy.deny` that can't be parsed
   */
  constructor(options: NetworkGuardOptions) {
    this.#options = options;
    const { allowedHosts, policy, declaredHosts, withinHosts } = options;
    this.#rules = new NetworkRules(allowedHosts, policy, declaredHosts, withinHosts);
    this.#addresses = new AddressBook(options.lookup);
  }

  /**
   * Sends a request like WHATWG `fetch`.
   *
   * @param url an absolute http or https URL
   * @param init the same as for `fetch`, without options that choose another way to the server
   * @param options limits in milliseconds and bytes, and callbacks
   * @returns the response of the last hop
   * @throws `HOST_NOT_ALLOWED` for a hop to a host, address or port outside the reach, or for an
   * `init` that a tool may not set, such as a dispatcher or the header `Host`
   * @throws `NETWORK_TIMEOUT` if the request takes longer than its limit
   * @throws `NETWORK_FAILED` if there is no connection or no valid answer, or the guard is closed
   * @throws `BODY_TOO_LARGE` if the body is larger than its limit, also while the body is read
   * @throws `TOO_MANY_REDIRECTS` if there are more redirects than the limit
   * @throws the error of a callback of `options`, or the reason of an aborted signal
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
      this.#assertOpen();
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
   * Opens a TCP connection to the host and port of a URL, for protocols that `fetch` does not
   * speak. The guard checks and reports it like a request, but does not look at the bytes that are
   * sent over it.
   *
   * @param url a URL with a host and a port
   * @param options a limit in milliseconds, and callbacks
   * @returns the connected socket
   * @throws `HOST_NOT_ALLOWED` for a host, address or port outside the reach
   * @throws `NETWORK_TIMEOUT` if there is no connection within the limit
   * @throws `NETWORK_FAILED` if there is no connection, or the guard is closed
   * @throws the error of a callback of `options`, or the reason of an aborted signal
   */
  async connect(url: URL, options: ConnectOptions): Promise<Socket> {
    this.#assertOpen();
    const { openConnection } = await import('./connection.js');
    const resolveChecked = (host: string, port: number) => this.#resolveChecked(host, port);
    const closing = this.#closing.signal;
    const socket = await openConnection(
      url,
      { rules: this.#rules, closing, resolveChecked },
      options,
    );
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    if (closing.aborted) socket.destroy();
    this.#assertOpen();
    return socket;
  }

  /**
   * Checks a URL without looking up its host.
   *
   * @param input an absolute http or https URL
   * @throws `HOST_NOT_ALLOWED` for a scheme, host, address or port outside the reach
   */
  assertUrl(input: string | URL): void {
    const verdict = this.#rules.judgeUrl(parseTarget(input, {}));
    if (verdict.decision === 'denied') throw denialError(verdict);
  }

  /**
   * Ends every connection with its requests. Requests that are not sent yet, and later ones, fail
   * with `NETWORK_FAILED`.
   */
  async close(): Promise<void> {
    this.#closing.abort(new EthosError('NETWORK_FAILED', 'the network guard is closed'));
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
      assertOpen: () => this.#assertOpen(),
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
        if (sent.signal !== hopInit.signal) lifetime.follow(sent.signal);
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
   * Checks the addresses of a host before a `fetch` that may open its own connection. A name
   * without an address leads nowhere, so a test that stubs `fetch` needs no network. If the program
   * passed its own `fetch` or `lookup`, there may be an address that the lookup does not know, and
   * the request is refused.
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

  #assertOpen(): void {
    this.#closing.signal.throwIfAborted();
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

const OPTIONS: OptionNames<NetworkGuardOptions> = {
  timeoutMs: true,
  maxBodyBytes: true,
  maxRedirects: true,
  allowedHosts: true,
  declaredHosts: true,
  withinHosts: true,
  policy: true,
  fetch: true,
  lookup: true,
};

/**
 * Creates a guard for one host set and one policy.
 *
 * @param options the hosts, the policy, limits, and the lookup of names
 * @returns the guard; `close` ends its connections
 * @throws `CONFIG_INVALID` for an entry of `policy.deny` that can't be parsed
 */
export function createNetworkGuard(options: NetworkGuardOptions): NetworkGuard {
  assertOptions('createNetworkGuard', options, OPTIONS);
  return new NetworkGuard(options);
}
