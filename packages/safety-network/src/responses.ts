import type { RequestLifetime } from './request-lifetime.js';

/** The largest status of the constructor of `Response`. */
const MAX_STATUS = 599;

/** The first lines of a response. */
export interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
}

/**
 * Makes a response with any status and text that a server may send.
 * @throws `TypeError` for a body that a response with that status does not have
 */
export function makeResponse(
  body: ConstructorParameters<typeof Response>[0],
  { status, statusText }: ResponseHead,
  headers?: Headers,
): Response {
  const init = headers && { headers };
  if (status <= MAX_STATUS && !/[^\t\x20-\x7e\x80-\xff]/.test(statusText)) {
    return new Response(body, { status, statusText, ...init });
  }
  const ok = status >= 200 && status <= 299;
  return withProperties(new Response(body, init), { status, statusText, ok });
}

/**
 * Sets the `url` of a response, and whether a redirect led there.
 *
 * @param response the response, which is changed
 * @param url the absolute URL of the last hop
 * @param redirected whether a redirect led there
 * @returns the same response
 */
export function describeResponse(response: Response, url: string, redirected: boolean): Response {
  if (response.url === url && response.redirected === redirected) return response;
  return withProperties(response, { url, redirected });
}

/** Gives a response, and each clone of it, other values of its properties. */
function withProperties(response: Response, values: Partial<Response>): Response {
  const { clone } = response;
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(response, name, { value, configurable: true });
  }
  return Object.defineProperty(response, 'clone', {
    value: () => withProperties(clone.call(response), values),
    configurable: true,
    writable: true,
  });
}

export interface StreamWatcher {
  /** The lifetime of the request. When it ends, the stream ends. */
  readonly lifetime: RequestLifetime;
  onBytes(count: number): void;
  onEnd(): void;
  /** Returns the error that the reader gets instead of an error of the source. */
  mapError(error: unknown): unknown;
}

/** Returns a stream that reads from the source only when it is read itself. */
export function watchStream(
  source: ReadableStream<Uint8Array>,
  { lifetime, onBytes, onEnd, mapError }: StreamWatcher,
): ReadableStream<Uint8Array> {
  // The reader is taken when it is needed: a stub may return one response many times.
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        lifetime.onFailure((reason) => {
          controller.error(reason);
          (reader ?? source).cancel(reason).catch(() => {});
        });
      },
      async pull(controller) {
        try {
          reader ??= source.getReader();
          const { done, value } = await lifetime.read(reader.read());
          if (!done) onBytes(value.byteLength);
          if (lifetime.failed) return;
          if (!done) {
            controller.enqueue(value);
            return;
          }
          onEnd();
          controller.close();
        } catch (error) {
          if (lifetime.failed) return;
          onEnd();
          controller.error(mapError(error));
        }
      },
      async cancel(reason) {
        onEnd();
        await (reader ?? source).cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
