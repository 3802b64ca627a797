import { EthosError } from '@ethosagent/types';
import type { Dispatcher } from 'undici';
import type { Exchange } from './exchange.js';
import { Handover, type RawHead } from './handover.js';
import { makeResponse } from './responses.js';

type Handler = Dispatcher.DispatchHandler;
type Controller = Dispatcher.DispatchController;

/** Resolved: what waits for it goes on once the bytes that have arrived were read. */
const whatCame = Promise.resolve();
const PROXY_AUTHENTICATION = 407;
const BODILESS_STATUSES: ReadonlySet<number> = new Set([204, 205, 304]);

export interface DirectAnswerOptions {
  readonly url: URL;
  readonly method: string;
  readonly fetch: typeof globalThis.fetch;
  /** Whether nothing may end the request once all of the body has arrived. */
  readonly isOverWithBody: boolean;
  /** Returns the exchange, once the request is sent. */
  readonly exchange: () => Exchange | undefined;
}

/**
 * Makes the response to a request that was sent without `fetch`. `fetch` decodes a body that is
 * encoded.
 */
export class DirectAnswer implements Handler {
  /** Resolves when the headers have arrived. The exchange reports that they never will. */
  readonly response: Promise<Response>;
  readonly #options: DirectAnswerOptions;
  #resolve!: (response: Promise<Response>) => void;
  #handover: Handover | undefined;

  constructor(options: DirectAnswerOptions) {
    this.#options = options;
    this.response = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  onRequestStart(): void {
    // Nothing to do yet: the exchange ends the request if it must.
  }

  onResponseStart(...args: Parameters<NonNullable<Handler['onResponseStart']>>): void {
    const [controller, status, headers, statusText = ''] = args;
    if (status < 200) return;
    const rawHeaders = (controller.rawHeaders ?? []) as Buffer[];
    const head = { status, statusText, rawHeaders, headers: headers as RawHead['headers'] };
    // What came with the headers is read first: mostly that is all of the body.
    if (this.#options.exchange()?.keepsBody) this.#resolve(whatCame.then(() => this.#answer(head)));
    else this.#resolve(this.#handOver(controller, head));
  }

  onResponseData(_: Controller, chunk: Buffer): void {
    this.#handover?.data(chunk);
  }

  onResponseEnd(): void {
    this.#handover?.end();
  }

  onResponseError(_: Controller, error: Error): void {
    this.#handover?.fail(error);
  }

  #answer(head: RawHead): Response {
    const { url, method, isOverWithBody } = this.#options;
    if (head.status === PROXY_AUTHENTICATION) {
      // `fetch` refuses this status, because only a proxy may send it.
      throw new EthosError('NETWORK_FAILED', `${url.host} answers as only a proxy may (407)`);
    }
    const exchange = this.#options.exchange();
    const whole = isOverWithBody ? exchange?.takeBody() : undefined;
    const isBodiless = method === 'HEAD' || BODILESS_STATUSES.has(head.status);
    const body = isBodiless ? null : (whole ?? exchange?.body ?? null);
    const response = makeResponse(body, head);
    const { rawHeaders } = head;
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      response.headers.append(latin1(rawHeaders[i]), latin1(rawHeaders[i + 1]));
    }
    return response;
  }

  #handOver(controller: Controller, head: RawHead): Promise<Response> {
    const { url, method, fetch } = this.#options;
    const handover = new Handover(controller, head);
    this.#handover = handover;
    const init: RequestInit = { method: method === 'HEAD' ? 'HEAD' : 'GET', redirect: 'manual' };
    return fetch(url.href, Object.assign({ dispatcher: handover }, init));
  }
}

function latin1(text: Buffer | undefined): string {
  return text?.toString('latin1') ?? '';
}
