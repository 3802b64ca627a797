import { isIpLiteral, normalizeHost, urlPort } from '@ethosagent/policy';
import { CapabilityError, EthosError } from '@ethosagent/types';
import type { Dispatcher } from 'undici';
import { addressOf, type ResolvedAddress } from './address-book.js';
import { type DecidingEntries, denialError, deny, entriesOf, toNetworkError } from './denials.js';
import { DirectAnswer } from './direct-answer.js';
import { directRequest } from './direct-request.js';
import { bodyTooLarge, Exchange, type ExchangeOptions } from './exchange.js';
import type { NetworkRules } from './network-rules.js';
import { isNodeFetch } from './node-fetch.js';
import type { PinnedAgent } from './pinned-agent.js';
import type { RequestLifetime } from './request-lifetime.js';
import { countStream, isStream, requestBytes } from './request-size.js';
import { describeResponse, makeResponse, watchStream } from './responses.js';

/** One hop of a request, and the decision about it. */
export interface NetworkAccess {
  /** The scheme, host, port and path, without user name, password, query and fragment. */
  readonly url: string;
  readonly host: string;
  readonly decision: 'allowed' | 'denied';
  /** The host pattern that allowed it, or the rule that denied it. */
  readonly rule: string;
  /** The entries of the lists that decided. */
  readonly entries: DecidingEntries;
}

/**
 * A quantity that a request uses up: the number of hops (`requests`), the bytes that are sent
 * (`bytes_out`), or the bytes of response bodies after decoding (`bytes_in`).
 */
export type NetworkSpending = 'requests' | 'bytes_out' | 'bytes_in';

/** The state that all hops of one request share. */
export interface HopContext {
  readonly rules: NetworkRules;
  readonly lifetime: RequestLifetime;
  /** Returns the limit in bytes for a `Content-Type`. */
  readonly maxBodyBytes: (type: string) => number;
  readonly fetch: typeof globalThis.fetch;
  readonly onAccess: ((access: NetworkAccess) => void) | undefined;
  readonly onSpend: ((amounts: Partial<Record<NetworkSpending, number>>) => void) | undefined;
  /** Returns the host's addresses. Rejects if a connection to one of them is not allowed. */
  checkAddresses(host: string, port: number): Promise<readonly ResolvedAddress[]>;
  /** Like `checkAddresses`, before a call of a `fetch` that may open its own connection. */
  checkBeforehand(host: string, port: number): Promise<readonly ResolvedAddress[]>;
  agent(): Promise<PinnedAgent>;
  /** Throws if the guard was closed. */
  assertOpen(): void;
}

/**
 * One request without redirects. `fetch` uses it as its dispatcher. So it learns whether a
 * connection is needed, and to which origin, and checks that before there is one.
 */
export class Hop {
  readonly #url: URL;
  readonly #context: HopContext;
  readonly #isNodeFetch: boolean;
  #rule = 'malformed URL';
  #entries: DecidingEntries | undefined;
  #isReported = false;
  /** The bytes of the request that were not counted yet. */
  #unpaid: number | undefined;
  #exchange: Exchange | undefined;
  /** Whether the whole answer was read, or can't fail any more. */
  #isRead = false;
  /** The bodies that the exchange keeps from `fetch`. */
  #takes: ExchangeOptions['takes'] = 'none';
  /** The response is the request's answer, or a redirect whose body is dropped. */
  #role: 'unknown' | 'answer' | 'discarded' = 'unknown';

  constructor(url: URL, context: HopContext) {
    this.#url = url;
    this.#context = context;
    this.#isNodeFetch = isNodeFetch(context.fetch);
  }

  /**
   * Checks the URL, without looking up its host.
   * @throws `HOST_NOT_ALLOWED` if the URL alone is not allowed
   */
  judge(): void {
    const verdict = this.#context.rules.judgeUrl(this.#url);
    this.#rule = verdict.rule;
    this.#entries = verdict.entries;
    if (verdict.decision === 'denied') throw denialError(verdict);
  }

  /**
   * Sends the request, and returns the response of this hop.
   * @throws `HOST_NOT_ALLOWED`, `NETWORK_FAILED`, `NETWORK_TIMEOUT` or the reason of an abort
   */
  async send(init: RequestInit): Promise<Response> {
    const { lifetime, fetch, onSpend } = this.#context;
    lifetime.nextHop();
    if (this.#isNodeFetch && !init.integrity) this.#takes = 'large';
    const hopInit = Object.assign({}, init, { redirect: 'manual' as const, dispatcher: this });
    if (onSpend) {
      if (isStream(init.body)) {
        hopInit.body = countStream(init.body, (bytes) => {
          this.#spend('bytes_out', bytes);
          lifetime.throwIfFailed();
        });
      }
      this.#unpaid = await lifetime.race(requestBytes(this.#url, init));
    }
    // A `fetch` other than Node's may never call the dispatcher.
    if (!this.#isNodeFetch) await this.#allowBeforehand();
    let response: Response;
    let fetching: Promise<Response> | undefined;
    try {
      const direct = this.#isNodeFetch ? directRequest(this.#url, init) : undefined;
      fetching = direct ? this.#sendDirect(direct, init) : fetch(this.#url.href, hopInit);
      response = await lifetime.race(fetching);
    } catch (error) {
      // A `fetch` that ignores the deadline may still answer. Nobody will read that answer.
      if (lifetime.failed) void letGo(fetching);
      lifetime.throwIfFailed();
      throw toNetworkError(this.#url.host, error);
    }
    if (typeof response !== 'object' || response === null) {
      throw new EthosError('NETWORK_FAILED', 'the fetch in use gave no response');
    }
    if (response.type === 'opaqueredirect') {
      const detail = `the fetch in use hides where ${this.#url.host} redirects to`;
      throw new EthosError('NETWORK_FAILED', detail);
    }
    if (response.redirected === true) {
      this.discard(response);
      const detail = `the fetch in use followed a redirect of ${this.#url.host} by itself, so where to could not be checked; it must keep to init.redirect`;
      throw denialError(deny('followed a redirect', detail));
    }
    return response;
  }

  /** Sends a request without `fetch`. */
  #sendDirect(options: Dispatcher.DispatchOptions, { signal }: RequestInit): Promise<Response> {
    this.#takes = 'all';
    const answer = new DirectAnswer({
      url: this.#url,
      method: options.method,
      fetch: this.#context.fetch,
      isOverWithBody: signal === undefined || signal === null,
      exchange: () => this.#exchange,
    });
    this.dispatch(options, answer);
    return answer.response;
  }

  /** Checks, counts and reports the hop before anything is sent. */
  async #allowBeforehand(): Promise<void> {
    const { lifetime, checkBeforehand } = this.#context;
    const { hostname } = this.#url;
    if (!isIpLiteral(hostname)) {
      this.#noteOpened(await lifetime.race(checkBeforehand(hostname, urlPort(this.#url))));
    }
    this.#begin();
  }

  #noteOpened(addresses: readonly ResolvedAddress[]): void {
    const { rules } = this.#context;
    const host = normalizeHost(this.#url.hostname) ?? this.#url.hostname;
    const opened = rules.openedBy(host, urlPort(this.#url), addresses.map(addressOf));
    this.#entries = { ...this.#entries, ...opened };
  }

  /** Makes the response the answer of the request. From now on the limits apply to its body. */
  answer(response: Response, redirected: boolean): Response {
    this.#role = 'answer';
    const body = this.#limitedBody(response);
    if (!body) this.#isRead = true;
    this.#update();
    if (response.body === null) this.#exchange?.drop();
    const { origin, pathname, search } = this.#url;
    const answer =
      body && body !== response.body ? makeResponse(body, response, response.headers) : response;
    return describeResponse(answer, `${origin}${pathname}${search}`, redirected);
  }

  /** Drops a response that is not the answer. */
  discard(response: Response): void {
    this.#role = 'discarded';
    const body = this.#exchange?.body ?? response.body;
    body?.cancel().catch(() => {});
  }

  /** Reports the access, unless it was reported before. */
  settle(error?: unknown): void {
    const isDenied = error instanceof CapabilityError;
    if (isDenied) this.#entries = { ...this.#entries, ...entriesOf(error) };
    this.#report(isDenied ? 'denied' : 'allowed', isDenied ? error.rule : this.#rule);
  }

  /** The interface of a dispatcher, as `fetch` calls it. */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.#dispatch(options, handler).catch((error: unknown) => this.#fail(error));
    return true;
  }

  async #dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): Promise<void> {
    const { lifetime, maxBodyBytes, checkAddresses, agent } = this.#context;
    const { hostname, origin, host } = this.#url;
    if (String(options.origin) !== origin) {
      throw denialError(deny('dispatcher', 'the dispatcher is for another origin'));
    }
    if (!isIpLiteral(hostname)) {
      this.#noteOpened(await checkAddresses(hostname, urlPort(this.#url)));
    }
    const pinned = await agent();
    if (lifetime.failed) return;
    this.#begin();
    this.#exchange = new Exchange({
      host,
      maxBodyBytes,
      lifetime,
      takes: this.#takes,
      onEnd: () => this.#update(),
      onRead: () => this.#read(),
      onBytes: this.#context.onSpend && ((count) => this.#spend('bytes_in', count)),
      onFailure: (error) => this.#fail(error),
    });
    try {
      this.#exchange.send(pinned, options, handler);
    } catch (error) {
      throw toNetworkError(host, error);
    }
  }

  /** Returns a stream that replaces the body; `undefined` if the response can stay as it is. */
  #limitedBody(response: Response): ReadableStream<Uint8Array> | undefined {
    if (!response.body || response.body.locked) return undefined;
    if (this.#exchange?.body) return this.#exchange.body;
    const isDecoded = response.headers?.has('content-encoding');
    if (this.#exchange?.hasEnded && !isDecoded && this.#isNodeFetch) return undefined;
    const { lifetime, onSpend } = this.#context;
    const maxBodyBytes = this.#context.maxBodyBytes(response.headers?.get('content-type') ?? '');
    const { host } = this.#url;
    const isCounted = onSpend === undefined || this.#exchange?.countsBody === true;
    let bytes = 0;
    return watchStream(response.body, {
      lifetime,
      onBytes: (count) => {
        bytes += count;
        lifetime.notIdle();
        if (!(bytes <= maxBodyBytes)) this.#fail(bodyTooLarge(host, maxBodyBytes));
        else if (!isCounted) this.#spend('bytes_in', count);
      },
      onEnd: () => this.#read(),
      mapError: (error) => toNetworkError(host, error),
    });
  }

  /** Counts and reports the hop, right before its connection is opened. */
  #begin(): void {
    // The guard may have been closed while the hop waited, for its addresses or for `prepare`.
    this.#context.assertOpen();
    this.#pay();
    this.settle();
  }

  /** Counts the hop against the quotas, once. */
  #pay(): void {
    if (this.#unpaid === undefined) return;
    const bytes = this.#unpaid;
    this.#unpaid = undefined;
    this.#context.onSpend?.({ requests: 1, bytes_out: bytes });
  }

  /** Counts bytes that arrive or leave. Ends the request if a quota is used up. */
  #spend(spent: NetworkSpending, bytes: number): void {
    try {
      this.#context.onSpend?.({ [spent]: bytes });
    } catch (error) {
      this.#fail(error);
    }
  }

  #read(): void {
    this.#isRead = true;
    this.#update();
  }

  /**
   * Removes the deadline, or everything that may end the request, once it can't affect the answer
   * any more.
   */
  #update(): void {
    if (this.#role !== 'answer' || this.#exchange?.hasEnded === false) return;
    if (this.#isRead) this.#context.lifetime.release();
    else if (this.#exchange) this.#context.lifetime.complete();
  }

  #fail(error: unknown): void {
    if (this.#role !== 'discarded') this.#context.lifetime.fail(error);
  }

  #report(decision: NetworkAccess['decision'], rule: string): void {
    if (this.#isReported) return;
    this.#isReported = true;
    const { protocol, host, pathname, hostname } = this.#url;
    // What follows `data:` is content, and not a place.
    const isPlace = protocol === 'http:' || protocol === 'https:';
    this.#context.onAccess?.({
      url: isPlace ? `${protocol}//${host}${pathname}` : protocol,
      host: normalizeHost(hostname) ?? hostname,
      decision,
      rule,
      entries: this.#entries ?? {},
    });
  }
}

async function letGo(fetching: Promise<Response> | undefined): Promise<void> {
  try {
    await (await fetching)?.body?.cancel();
  } catch {
    // The request has failed too.
  }
}
