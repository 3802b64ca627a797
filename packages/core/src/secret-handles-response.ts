import { EthosError } from '@ethosagent/types';
import { type SecretRedactor, withMarks } from './results/redact.js';

/** What is removed from a response while it arrives. */
export interface Scrubbing {
  /** All values that were sent so far; `undefined` if there are none. More may be added later. */
  readonly sent: SecretRedactor | undefined;
  /** The error that the reader of the body sees instead of the original one. */
  scrubError(error: unknown): unknown;
}

/**
 * A response with marks instead of secrets: in its headers, its status text and its body. Once a
 * secret was sent, the body is held back a little, since a secret may be split over chunks.
 * @throws `NETWORK_FAILED` for what is not a `Response`, as a stubbed `fetch` may give
 */
export function scrubResponse(response: Response, scrubbing: Scrubbing): Response {
  if (!(response instanceof Response)) {
    throw new EthosError(
      'NETWORK_FAILED',
      'the fetch of this host gave no Response, so that secrets can not be taken out of it; ask the operator to give another',
    );
  }
  const { status, statusText } = response;
  const { sent } = scrubbing;
  const body = response.body && scrubBody(response, response.body, scrubbing);
  if (sent === undefined) {
    // A response without a body is complete: no secret can be sent before it ends.
    return body ? new Response(body, { status, statusText, headers: response.headers }) : response;
  }
  const headers = new Headers();
  for (const [name, value] of response.headers) {
    if (!sent.isInName(name)) headers.append(name, sent.redact(value));
  }
  headers.delete('content-length');
  return new Response(body, { status, statusText: sent.redact(statusText), headers });
}

function scrubBody(
  response: Response,
  body: ReadableStream<Uint8Array>,
  scrubbing: Scrubbing,
): ReadableStream<Uint8Array> {
  const scrubber = new ByteScrubber(scrubbing, isEventStream(response));
  // Holds a reference to the response: the garbage collector may end the request of a response that
  // nobody holds.
  const source: { response: Response; reader?: ReadableStreamDefaultReader<Uint8Array> } = {
    response,
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          // The reader is taken when it is needed: a stub may return one response many times.
          source.reader ??= body.getReader();
          const { done, value } = await source.reader.read().catch((error: unknown) => {
            throw scrubbing.scrubError(error);
          });
          const scrubbed = done ? scrubber.end() : scrubber.push(value);
          if (scrubbed.length > 0) controller.enqueue(scrubbed);
          if (done) controller.close();
          if (done || scrubbed.length > 0) return;
        }
      },
      cancel: (reason) => (source.reader ?? body).cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/**
 * How many bytes before the ones that are passed on next are searched again. What is encoded in
 * groups of bytes can't be decoded from the middle of a group.
 */
const CONTEXT_BYTES = 256;

/** Replaces secrets in bytes that come in pieces. */
class ByteScrubber {
  readonly #scrubbing: Scrubbing;
  readonly #isEventStream: boolean;
  /** The last bytes that arrived, one character per byte. */
  #text = '';
  /** How much of `#text` was already passed on. */
  #given = 0;

  constructor(scrubbing: Scrubbing, isEventStream: boolean) {
    this.#scrubbing = scrubbing;
    this.#isEventStream = isEventStream;
  }

  push(chunk: Uint8Array): Uint8Array {
    // Read for every chunk: a request that runs at the same time may send another secret.
    const { sent } = this.#scrubbing;
    if (sent === undefined) {
      // Until a secret was sent, the bytes are only context for what comes later.
      this.#text = (this.#text + latin1(chunk.subarray(-CONTEXT_BYTES))).slice(-CONTEXT_BYTES);
      this.#given = this.#text.length;
      return chunk;
    }
    this.#text += latin1(chunk);
    const { longestForm } = sent;
    // A minimum amount, so that each byte is searched only about twice.
    const isEnough = this.#text.length - this.#given >= 2 * longestForm;
    const place = isEnough ? this.#text.length - longestForm : 0;
    // An event is passed on as soon as it is complete: the next one may never come.
    const events = this.#isEventStream ? endOfEvents(this.#text) : 0;
    if (Math.max(place, events) <= this.#given) return new Uint8Array();
    return this.#giveUpTo(Math.max(place, events));
  }

  end(): Uint8Array {
    return this.#giveUpTo(this.#text.length);
  }

  /** Passes on what arrived before a place, or before the secret that lies across it. */
  #giveUpTo(place: number): Uint8Array {
    const found = this.#scrubbing.sent?.find(this.#text) ?? [];
    const across = found.find((one) => one.start < place && one.end > place);
    const end = Math.max(this.#given, across?.start ?? place);
    const from = this.#given;
    const given = withMarks(
      this.#text.slice(from, end),
      found
        .filter((one) => one.end > from && one.end <= end)
        .map((one) => ({ ...one, start: Math.max(0, one.start - from), end: one.end - from })),
    );
    const kept = Math.max(0, end - CONTEXT_BYTES);
    this.#text = this.#text.slice(kept);
    this.#given = end - kept;
    return bytes(given);
  }
}

function isEventStream({ headers }: Response): boolean {
  return /^\s*text\/event-stream\s*(;|$)/i.test(headers.get('content-type') ?? '');
}

/** The index after the last blank line, or 0 if there is none. */
function endOfEvents(text: string): number {
  const ends = ['\n\n', '\n\r\n', '\r\r'].map((blank) => {
    const at = text.lastIndexOf(blank);
    return at < 0 ? 0 : at + blank.length;
  });
  return Math.max(...ends);
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

function bytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'latin1'));
}
