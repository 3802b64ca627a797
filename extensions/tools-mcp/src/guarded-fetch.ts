import { EthosError, type ScopedFetch } from '@ethosagent/types';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { jsonDepth } from './json-message.js';
import { MAX_MESSAGE_DEPTH } from './limits.js';
import { pause, TokenBucket } from './token-bucket.js';

export interface GuardedFetchOptions {
  scopedFetch: ScopedFetch;
  /** Where `headers` go, and nowhere else. */
  origin: string;
  headers: ReadonlyMap<string, string>;
  maxMessageChars: number;
  messagesPerSecond: number;
  signal: AbortSignal;
  /** Told of a request whose answer broke off, by the id of JSON-RPC. */
  onBroken: (id: string | number) => void;
}

/** Fetch for the transports of the SDK, whose answers hold no more than a message may. */
export function guardedFetch(options: GuardedFetchOptions): FetchLike {
  const { scopedFetch, origin, headers, maxMessageChars, messagesPerSecond, signal } = options;
  const bucket = new TokenBucket(messagesPerSecond, messagesPerSecond * 10);
  return async (url, init = {}) => {
    const target = new URL(url);
    const own = new Headers(init.headers);
    if (target.origin === origin) for (const [name, value] of headers) own.set(name, value);
    // One list of known keys: the SDK passes what it was told, and a scoped fetch refuses the rest.
    const { method, body, redirect, signal: asked } = init;
    const response = await scopedFetch.fetch(target, {
      headers: own,
      signal: asked ? AbortSignal.any([asked, signal]) : signal,
      ...(method === undefined ? {} : { method }),
      ...(body === undefined || body === null ? {} : { body }),
      ...(redirect === undefined ? {} : { redirect }),
    });
    if (response.body === null) return response;
    const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
    const id = isStream ? requestIdOf(body) : undefined;
    const guarded = isStream
      ? eventStream(response.body, { maxMessageChars, bucket, signal })
      : shallowBody(response.body, maxMessageChars);
    return replaceBody(response, id === undefined ? guarded : watch(guarded, id, options));
  };
}

function replaceBody(response: Response, body: ReadableStream<Uint8Array>): Response {
  const { status, statusText, headers } = response;
  const replaced = new Response(body, { status, statusText, headers });
  Object.defineProperty(replaced, 'url', { value: response.url });
  return replaced;
}

function requestIdOf(body: RequestInit['body']): string | number | undefined {
  if (typeof body !== 'string') return undefined;
  const message: unknown = JSON.parse(body);
  if (typeof message !== 'object' || message === null || !('id' in message)) return undefined;
  const { id } = message;
  if (!('method' in message)) return undefined;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

/** A whole answer: as long as a message may be, and no deeper. */
function shallowBody(body: ReadableStream<Uint8Array>, maxChars: number) {
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  let length = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk) {
        const text = decoder.decode(chunk, { stream: true });
        length += text.length;
        if (length > maxChars) throw tooLong();
        pieces.push(text);
      },
      flush(controller) {
        const text = pieces.join('') + decoder.decode();
        if (jsonDepth(text) > MAX_MESSAGE_DEPTH) throw tooDeep();
        controller.enqueue(new TextEncoder().encode(text));
      },
    }),
  );
}

/** Events as they come, each as long and as deep as a message may be, and no faster than may be. */
function eventStream(
  body: ReadableStream<Uint8Array>,
  guard: { maxMessageChars: number; bucket: TokenBucket; signal: AbortSignal },
) {
  const decoder = new TextDecoder();
  let event: string[] = [];
  let length = 0;
  const end = async () => {
    if (jsonDepth(event.join('')) > MAX_MESSAGE_DEPTH) throw tooDeep();
    event = [];
    length = 0;
    const waitMs = guard.bucket.take(1);
    if (waitMs > 0) await pause(waitMs, guard.signal);
  };
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        // Only where lines end matters here: an event ends at an empty one, whatever ends the lines.
        const lines = decoder.decode(chunk, { stream: true }).split(/\r\n|\n|\r/);
        for (const [at, line] of lines.entries()) {
          if (at > 0 && length > 0 && line === '') await end();
          length += line.length + 1;
          if (length > guard.maxMessageChars) throw tooLong();
          // Comments and names of fields hold no brackets that count.
          if (line !== '') event.push(line.replace(/^data: ?/, ''));
        }
        controller.enqueue(chunk);
      },
    }),
  );
}

/** Tells when the stream of an answer ends without having held it, and can't be taken up again. */
function watch(
  body: ReadableStream<Uint8Array>,
  id: string | number,
  { onBroken }: GuardedFetchOptions,
) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let resumable = false;
  let tail = '';
  const ended = () => {
    if (!resumable) onBroken(id);
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          // The answer may be on its way through the parser.
          setTimeout(ended, 50).unref();
          return;
        }
        const text = tail + decoder.decode(value, { stream: true });
        resumable ||= /(?:^|[\r\n])id:/.test(text);
        tail = text.slice(-4);
        controller.enqueue(value);
      } catch (error) {
        controller.error(error);
        setTimeout(ended, 50).unref();
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

const tooLong = () =>
  new EthosError('BODY_TOO_LARGE', 'the server sent a message that is too long');
const tooDeep = () =>
  new EthosError(
    'BODY_TOO_LARGE',
    `the server sent a message nested deeper than ${MAX_MESSAGE_DEPTH} levels`,
  );
