import { EthosError, type ScopedFetch } from '@ethosagent/types';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { EventGuard } from './event-guard.js';
import { jsonDepth } from './json-message.js';
import { MAX_MESSAGE_DEPTH } from './limits.js';
import { pause, TokenBucket } from './token-bucket.js';

export interface GuardedFetchOptions {
  scopedFetch: ScopedFetch;
  /** The only origin that gets `headers`. */
  origin: string;
  headers: ReadonlyMap<string, string>;
  maxMessageChars: number;
  messagesPerSecond: number;
  /** A bucket for the characters of notifications and requests. While it is empty, no event is read. */
  unasked: Pick<TokenBucket, 'take'>;
  signal: AbortSignal;
  /**
   * Returns a signal for the JSON-RPC id of a request. It fires when the request is answered or
   * withdrawn. Soon after, its connection is ended, since the server could keep it open forever.
   */
  settled: (id: string | number) => AbortSignal;
  /** Called with the JSON-RPC id of a request whose answer broke off. */
  onBroken: (id: string | number) => void;
  /**
   * Called with the reason to leave the server: it takes no answers, or sends messages that are too
   * long.
   */
  onAbuse: (why: string) => void;
  /** Called with the error of a request that got no answer. */
  onFailed: (error: unknown) => void;
}

const MAX_ANSWERS_AT_ONCE = 32;
const ANSWER_TIMEOUT_MS = 10_000;
/** How many milliseconds a server has to end the connection of a settled request by itself. */
const END_GRACE_MS = 1_000;
/**
 * How many streams of a server are opened at once, and in a second over a longer time. The SDK opens
 * one again when it ends, as soon as the server says.
 */
const STREAMS_AT_ONCE = 20;
const STREAMS_PER_SECOND = 2;
/**
 * How often a server may refuse an authorization at once, and in a minute over a longer time. The SDK
 * asks for new tokens each time, without end.
 */
const REFUSALS_AT_ONCE = 100;
const REFUSALS_A_MINUTE = 1;

/**
 * Creates the `fetch` for the transports of the SDK. Its answers keep to the limits of a message.
 */
export function guardedFetch(options: GuardedFetchOptions): FetchLike {
  const { scopedFetch, origin, headers, maxMessageChars, messagesPerSecond, signal } = options;
  const bucket = new TokenBucket(messagesPerSecond, messagesPerSecond * 10);
  const streams = new TokenBucket(STREAMS_PER_SECOND, STREAMS_AT_ONCE);
  const refusals = new TokenBucket(REFUSALS_A_MINUTE / 60, REFUSALS_AT_ONCE);
  let answers = 0;
  /**
   * Sends an answer to a request of the server. The content of its acknowledgement does not matter.
   */
  const answer = async (send: (signal: AbortSignal) => Promise<Response>) => {
    if (answers >= MAX_ANSWERS_AT_ONCE) {
      options.onAbuse('it takes no answers to what it asks');
      throw new EthosError('NETWORK_FAILED', 'the server takes no answers to what it asks');
    }
    answers++;
    try {
      const { status, statusText, headers, body } = await send(
        AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      );
      await body?.cancel();
      return new Response(null, { status, statusText, headers });
    } finally {
      answers--;
    }
  };
  return async (url, init = {}) => {
    const target = new URL(url);
    const own = new Headers(init.headers);
    if (target.origin === origin) for (const [name, value] of headers) own.set(name, value);
    // Only known keys are passed: a scoped fetch refuses all others.
    const { method, body, redirect, signal: asked } = init;
    const send = async (ending?: AbortSignal) => {
      const signals = [signal, asked, ending].filter((one) => one instanceof AbortSignal);
      try {
        return await scopedFetch.fetch(target, {
          headers: own,
          signal: AbortSignal.any(signals),
          ...(method === undefined ? {} : { method }),
          ...(body === undefined || body === null ? {} : { body }),
          ...(redirect === undefined ? {} : { redirect }),
        });
      } catch (error) {
        options.onFailed(error);
        throw error;
      }
    };
    const message = messageIn(body);
    if (message !== undefined && !('method' in message)) return answer(send);
    const id = idOf(message);
    // Each request adds the token that its answer takes, so that answers never count as a flood.
    if (id !== undefined) bucket.give(1);
    const settled = id === undefined ? undefined : options.settled(id);
    if (isStreamOpened(own, method)) {
      const waitMs = streams.take(1);
      if (waitMs > 0) await pause(waitMs, signal);
    }
    const response = await send(settled && soonAfter(settled));
    if ([401, 403].includes(response.status) && !refusals.tryTake(1)) {
      await response.body?.cancel();
      throw new EthosError(
        'NETWORK_FAILED',
        'the server refuses every authorization; check its token, or authorize it again',
      );
    }
    if (response.body === null) return response;
    const isStream = isEventStream(own, method, response);
    const guarded = isStream
      ? eventStream(response.body, {
          maxMessageChars,
          bucket,
          unasked: options.unasked,
          signal,
          // The stream of a call ends with the call. For another stream, the SDK would connect again.
          onBad: message === undefined ? options.onAbuse : () => {},
        })
      : shallowBody(response.body, maxMessageChars);
    const isWatched = isStream && id !== undefined && settled !== undefined;
    return replaceBody(response, isWatched ? watch(guarded, { id, settled }, options) : guarded);
  };
}

/** Whether the SDK reads an answer as events. It checks the type only when it accepts both types. */
function isEventStream(asked: Headers, method: string | undefined, { headers }: Response): boolean {
  const isOfType = /^\s*text\/event-stream\b/i.test(headers.get('content-type') ?? '');
  return isStreamOpened(asked, method) || (acceptsEvents(asked) && isOfType);
}

/** Whether a request opens a stream for what the server says unasked, or for the rest of an answer. */
function isStreamOpened(asked: Headers, method = 'GET'): boolean {
  return acceptsEvents(asked) && method.toUpperCase() === 'GET';
}

function acceptsEvents(asked: Headers): boolean {
  return /text\/event-stream/i.test(asked.get('accept') ?? '');
}

/** A connection that the server ends by itself can be used again, so it gets a moment for that. */
function soonAfter(settled: AbortSignal): AbortSignal {
  if (settled.aborted) return settled;
  const ending = new AbortController();
  const end = () => ending.abort();
  settled.addEventListener('abort', () => setTimeout(end, END_GRACE_MS).unref(), { once: true });
  return ending.signal;
}

function replaceBody(response: Response, body: ReadableStream<Uint8Array>): Response {
  const { status, statusText, headers } = response;
  const replaced = new Response(body, { status, statusText, headers });
  Object.defineProperty(replaced, 'url', { value: response.url });
  return replaced;
}

/** Returns the JSON-RPC message in a body; `undefined` for a body of OAuth. */
function messageIn(body: RequestInit['body']): object | undefined {
  if (typeof body !== 'string' || !body.startsWith('{')) return undefined;
  try {
    const message: unknown = JSON.parse(body);
    const is = typeof message === 'object' && message !== null && 'jsonrpc' in message;
    return is ? message : undefined;
  } catch {
    return undefined;
  }
}

function idOf(message: object | undefined): string | number | undefined {
  if (message === undefined || !('id' in message)) return undefined;
  const { id } = message;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

/** Passes on a whole answer, within the limits of a message for length and depth. */
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

/** Passes on events as they come, within the limits for length, depth and rate. */
function eventStream(
  body: ReadableStream<Uint8Array>,
  guard: {
    maxMessageChars: number;
    bucket: TokenBucket;
    unasked: Pick<TokenBucket, 'take'>;
    signal: AbortSignal;
    onBad: (why: string) => void;
  },
) {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const events = new EventGuard(guard.maxMessageChars);
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        try {
          for (const event of events.push(decoder.decode(chunk, { stream: true }))) {
            const waitMs = Math.max(guard.bucket.take(1), guard.unasked.take(0));
            if (waitMs > 0) await pause(waitMs, guard.signal);
            if (event !== '') controller.enqueue(encoder.encode(event));
          }
        } catch (error) {
          guard.onBad('it sent a message that is too long, or nests too deep');
          throw error;
        }
      },
    }),
  );
}

/**
 * Reports a stream that ended without the answer and can't be resumed. The reader of a settled
 * request learns no end: the SDK would try to resume it.
 */
function watch(
  body: ReadableStream<Uint8Array>,
  { id, settled }: { id: string | number; settled: AbortSignal },
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
        if (done && settled.aborted) return;
        if (done) {
          controller.close();
          // The parser may not have passed the answer on yet.
          setTimeout(ended, 50).unref();
          return;
        }
        const text = tail + decoder.decode(value, { stream: true });
        resumable ||= /(?:^|[\r\n])id:/.test(text);
        tail = text.slice(-4);
        controller.enqueue(value);
      } catch (error) {
        if (settled.aborted) return;
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
