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
 * Hands a response that has begun over to a `fetch`, whose dispatcher it is. What arrives before
 * `fetch` asks is kept.
 */
export class Handover {
  readonly #controller: Controller;
  readonly #head: RawHead;
  #handler: Handler | undefined;
  readonly #early: ((handler: Handler) => void)[] = [];
  #error: Error | undefined;

  constructor(controller: Controller, head: RawHead) {
    this.#controller = controller;
    this.#head = head;
  }

  /** The interface of a dispatcher, as `fetch` calls it. */
  dispatch(_options: Dispatcher.DispatchOptions, handler: Handler): boolean {
    const controller = this.#controller;
    const { status, statusText, rawHeaders, headers } = this.#head;
    this.#handler = handler;
    if (this.#error !== undefined) {
      this.fail(this.#error);
      return true;
    }
    if (handler.onRequestStart) {
      handler.onRequestStart(controller, {});
      handler.onResponseStart?.(controller, status, headers, statusText);
    } else {
      const resume = () => controller.resume();
      handler.onConnect?.((error) => controller.abort(error ?? new Error('fetch ended it')));
      handler.onHeaders?.(status, [...rawHeaders], resume, statusText);
    }
    for (const tell of this.#early.splice(0)) tell(handler);
    return true;
  }

  data(chunk: Buffer): void {
    this.#tell((handler) => {
      if (handler.onResponseData) handler.onResponseData(this.#controller, chunk);
      else handler.onData?.(chunk);
    });
  }

  end(): void {
    this.#tell((handler) => {
      if (handler.onResponseEnd) handler.onResponseEnd(this.#controller, {});
      else handler.onComplete?.([]);
    });
  }

  fail(error: Error): void {
    const handler = this.#handler;
    this.#error = error;
    if (handler?.onResponseError) handler.onResponseError(this.#controller, error);
    else handler?.onError?.(error);
  }

  #tell(tell: (handler: Handler) => void): void {
    if (this.#handler === undefined) this.#early.push(tell);
    else tell(this.#handler);
  }
}
