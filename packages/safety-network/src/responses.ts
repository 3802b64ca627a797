import type { RequestLifetime } from './request-lifetime.js';

/** Returns a response with another body and the same status and headers. */
export function replaceBody(response: Response, body: ReadableStream<Uint8Array>): Response {
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
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
  const { clone } = response;
  return Object.defineProperties(response, {
    url: { value: url, configurable: true },
    redirected: { value: redirected, configurable: true },
    clone: {
      value: () => describeResponse(clone.call(response), url, redirected),
      configurable: true,
      writable: true,
    },
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
          const { done, value } = await reader.read();
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
