import { EthosError } from '@ethosagent/types';
import { type SecretRedactor, withMarks } from './results/redact.js';

/**
 * A response with marks in place of secrets: in its headers, its status text, and its body, which
 * comes a little later for it, because a secret may be split over chunks.
 * @throws `NETWORK_FAILED` for what is not a `Response`, as a stubbed `fetch` may give
 */
export function scrubResponse(response: Response, secrets: SecretRedactor): Response {
  if (!(response instanceof Response)) {
    throw new EthosError(
      'NETWORK_FAILED',
      'the fetch in use gave no Response, so that secrets can not be taken out of it',
    );
  }
  const { status, statusText } = response;
  const headers = new Headers();
  for (const [name, value] of response.headers) {
    if (secrets.redact(name) === name) headers.append(name, secrets.redact(value));
  }
  headers.delete('content-length');
  const body = response.body && scrubBody(response, response.body, secrets);
  return new Response(body, { status, statusText: secrets.redact(statusText), headers });
}

function scrubBody(
  response: Response,
  body: ReadableStream<Uint8Array>,
  secrets: SecretRedactor,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const scrubber = new ByteScrubber(secrets);
  // What ends the request lives as long as the response that it gave.
  const source = { response, reader };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const { done, value } = await source.reader.read();
          const scrubbed = done ? scrubber.end() : scrubber.push(value);
          if (scrubbed.length > 0) controller.enqueue(scrubbed);
          if (done) controller.close();
          if (done || scrubbed.length > 0) return;
        }
      },
      cancel: (reason) => source.reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/**
 * Bytes before those that are yet to be given which are looked at again: what is encoded in groups
 * can't be read from the middle of one.
 */
const CONTEXT_BYTES = 256;

/** Replaces secrets in bytes that come in pieces. */
class ByteScrubber {
  readonly #secrets: SecretRedactor;
  /** The end of what has come, one character a byte. */
  #text = '';
  /** How much of it was given. */
  #given = 0;

  constructor(secrets: SecretRedactor) {
    this.#secrets = secrets;
  }

  push(chunk: Uint8Array): Uint8Array {
    this.#text += Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
    // Asked each time: a request that runs meanwhile may send another secret.
    const { longestForm } = this.#secrets;
    // So that no byte is looked through more than about twice.
    if (this.#text.length - this.#given < 2 * longestForm) return new Uint8Array();
    return this.#giveUpTo(this.#text.length - longestForm);
  }

  end(): Uint8Array {
    return this.#giveUpTo(this.#text.length);
  }

  /** What has come up to a place, or to the secret that lies across it. */
  #giveUpTo(place: number): Uint8Array {
    const found = this.#secrets.find(this.#text);
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

function bytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'latin1'));
}
