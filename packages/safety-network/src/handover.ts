import type { Dispatcher } from 'undici';

type Handler = Dispatcher.DispatchHandler;
type Controller = Dispatcher.DispatchController;

/** The first lines of a response, as they came. */
export interface RawHead {
  readonly status: number;
  readonly statusText: string;
  /** Names and values in turn. */
  readonly rawHeaders: readonly Buffer[];
  readonly headers: Record<string, string | string[]>;
}

/**
 * Hands a response that has begun over to a `fetch`, whose dispatcher it is. The response waits
 * until `fetch` asks.
 */
export class Handover {
  readonly #controller: Controller;
  readonly #head: RawHead;
  #handler: Handler | undefined;
  #error: Error | undefined;

  constructor(controller: Controller, head: RawHead) {
    this.#controller = controller;
    this.#head = head;
    controller.pause();
  }

  /** The interface of a dispatcher, as `fetch` calls it. */
  dispatch(_options: Dispatcher.DispatchOptions, handler: Handler): boolean {
    const controller = this.#controller;
    const { status, statusText, rawHeaders, headers } = this.#head;
    this.#handler = handler;
    if (this.#error !== undefined) {
      this.fail(this.#error);
    } else if (handler.onRequestStart) {
      handler.onRequestStart(controller, {});
      handler.onResponseStart?.(controller, status, headers, statusText);
      controller.resume();
    } else {
      const resume = () => controller.resume();
      handler.onConnect?.((error) => controller.abort(error ?? new Error('fetch ended it')));
      const goesOn = handler.onHeaders?.(status, [...rawHeaders], resume, statusText);
      if (goesOn !== false) resume();
    }
    return true;
  }

  data(chunk: Buffer): void {
    const handler = this.#handler;
    if (handler?.onResponseData) handler.onResponseData(this.#controller, chunk);
    else if (handler?.onData?.(chunk) === false) this.#controller.pause();
  }

  end(): void {
    const handler = this.#handler;
    if (handler?.onResponseEnd) handler.onResponseEnd(this.#controller, {});
    else handler?.onComplete?.([]);
  }

  fail(error: Error): void {
    const handler = this.#handler;
    this.#error = error;
    if (handler?.onResponseError) handler.onResponseError(this.#controller, error);
    else handler?.onError?.(error);
  }
}
