import type { Dispatcher } from 'undici';

/** The headers of a response that describe its body. */
export interface BodyHeaders {
  /** The value of `Content-Encoding`; empty if there is none. */
  encodings: string;
  /** The value of `Content-Length`; empty if there is none. */
  length: string;
  /** The value of `Content-Type`; empty if there is none. */
  type: string;
}

/**
 * `passed`: `fetch` gets the body. `taken`: the sink gets it, and `fetch` gets an empty one.
 * `refused`: `fetch` does not even get the headers.
 */
export type BodyFate = 'passed' | 'taken' | 'refused';

/** Sees a response before `fetch` does. */
export interface ResponseSink {
  /** Called when the request has a connection and is about to be sent. */
  onStart(abort: (reason: Error) => void): void;
  /** Called with the headers of the response. */
  onHeaders(headers: BodyHeaders): BodyFate;
  /** Called with bytes of the body. */
  onData(chunk: Buffer): void;
  /** Called when `fetch` has read what it got. */
  onWanted(): void;
  onEnd(): void;
  /** Called before `fetch` learns of the failure. */
  onFailure(error: Error): void;
}

type Handler = Dispatcher.DispatchHandler;
type Controller = Dispatcher.DispatchController;

/**
 * Puts a sink between the agent and the handler of `fetch`. Node 20 to 24 use the first interface
 * of undici, Node 26 the second.
 *
 * The invariant: nothing pauses a connection. When a server closes a paused one, undici 7 throws in
 * an event of the socket, which ends the process (undici #5360). Bytes that are not read yet are
 * kept instead, and the sink limits how many.
 */
export function tapResponse(handler: Handler, sink: ResponseSink): Handler {
  return handler.onRequestStart ? new SecondTap(handler, sink) : new FirstTap(handler, sink);
}

class FirstTap implements Handler {
  readonly #handler: Handler;
  readonly #sink: ResponseSink;
  #isTaken = false;

  constructor(handler: Handler, sink: ResponseSink) {
    this.#handler = handler;
    this.#sink = sink;
  }

  onConnect(abort: (error?: Error) => void): void {
    this.#sink.onStart(abort);
    // `fetch` aborts when its own response is garbage collected. Once the sink has the body, that
    // must not end it.
    this.#handler.onConnect?.((error) => {
      if (!this.#isTaken) abort(error);
    });
  }

  onResponseStarted(): void {
    this.#handler.onResponseStarted?.();
  }

  // biome-ignore lint/complexity/useMaxParams: the signature of undici
  onHeaders(status: number, headers: Buffer[], _resume: () => void, text: string): boolean {
    const fate = status < 200 ? 'passed' : this.#sink.onHeaders(bodyHeaders(headers));
    if (fate === 'refused') return true;
    this.#isTaken = fate === 'taken';
    this.#handler.onHeaders?.(status, headers, () => this.#sink.onWanted(), text);
    if (this.#isTaken) this.#handler.onComplete?.([]);
    return true;
  }

  onData(chunk: Buffer): boolean {
    this.#sink.onData(chunk);
    if (!this.#isTaken) this.#handler.onData?.(chunk);
    return true;
  }

  onComplete(trailers: string[] | null): void {
    this.#sink.onEnd();
    if (!this.#isTaken) this.#handler.onComplete?.(trailers);
  }

  onError(error: Error): void {
    this.#sink.onFailure(error);
    if (!this.#isTaken) this.#handler.onError?.(error);
  }
}

class SecondTap implements Handler {
  readonly #handler: Handler;
  readonly #sink: ResponseSink;
  #controller: Controller | undefined;
  #isTaken = false;

  constructor(handler: Handler, sink: ResponseSink) {
    this.#handler = handler;
    this.#sink = sink;
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.#sink.onStart((reason) => controller.abort(reason));
    this.#handler.onRequestStart?.(this.#fenced(controller), context);
  }

  onResponseStarted(): void {
    this.#handler.onResponseStarted?.();
  }

  onResponseStart(...args: Parameters<NonNullable<Handler['onResponseStart']>>): void {
    const [controller, status, headers, text] = args;
    const encodings = String(headers['content-encoding'] ?? '');
    const length = String(headers['content-length'] ?? '');
    const type = String(headers['content-type'] ?? '');
    const fate = status < 200 ? 'passed' : this.#sink.onHeaders({ encodings, length, type });
    if (fate === 'refused') return;
    this.#isTaken = fate === 'taken';
    this.#handler.onResponseStart?.(this.#fenced(controller), status, headers, text);
    if (this.#isTaken) this.#handler.onResponseEnd?.(controller, {});
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    this.#sink.onData(chunk);
    if (!this.#isTaken) this.#handler.onResponseData?.(this.#fenced(controller), chunk);
  }

  onResponseEnd(...args: Parameters<NonNullable<Handler['onResponseEnd']>>): void {
    this.#sink.onEnd();
    if (!this.#isTaken) this.#handler.onResponseEnd?.(...args);
  }

  onResponseError(controller: Controller, error: Error): void {
    this.#sink.onFailure(error);
    if (!this.#isTaken) this.#handler.onResponseError?.(controller, error);
  }

  #fenced(controller: Controller): Controller {
    this.#controller ??= new FencedController(controller, this.#sink, () => this.#isTaken);
    return this.#controller;
  }
}

/**
 * The controller for `fetch`. It pauses nothing. Once the sink has the body, it can't abort any
 * more: see `FirstTap.onConnect`.
 */
class FencedController implements Controller {
  readonly paused = false;
  readonly #controller: Controller;
  readonly #sink: ResponseSink;
  readonly #isTaken: () => boolean;

  constructor(controller: Controller, sink: ResponseSink, isTaken: () => boolean) {
    this.#controller = controller;
    this.#sink = sink;
    this.#isTaken = isTaken;
  }

  get aborted(): boolean {
    return this.#controller.aborted;
  }

  get reason(): Error | null {
    return this.#controller.reason;
  }

  get rawHeaders(): NonNullable<Controller['rawHeaders']> | null {
    return this.#controller.rawHeaders ?? null;
  }

  get rawTrailers(): NonNullable<Controller['rawTrailers']> | null {
    return this.#controller.rawTrailers ?? null;
  }

  abort(reason: Error): void {
    if (!this.#isTaken()) this.#controller.abort(reason);
  }

  pause(): void {
    // See `tapResponse`.
  }

  resume(): void {
    this.#sink.onWanted();
  }
}

const NAME_LENGTHS: ReadonlySet<number> = new Set(
  ['content-encoding', 'content-length', 'content-type'].map(({ length }) => length),
);

function bodyHeaders(rawHeaders: readonly Buffer[]): BodyHeaders {
  const encodings: string[] = [];
  let length = '';
  let type = '';
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    // The length is compared first: there are many headers, and hardly any is one of these.
    if (name === undefined || !NAME_LENGTHS.has(name.length)) continue;
    const lowerCaseName = name.toString('latin1').toLowerCase();
    const value = String(rawHeaders[i + 1]);
    if (lowerCaseName === 'content-encoding') encodings.push(value);
    else if (lowerCaseName === 'content-length') length = value;
    else if (lowerCaseName === 'content-type') type = value;
  }
  return { encodings: encodings.join(','), length, type };
}
