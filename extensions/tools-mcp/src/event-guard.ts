import { EthosError } from '@ethosagent/types';
import { jsonDepth } from './json-message.js';
import { MAX_MESSAGE_DEPTH } from './limits.js';

/**
 * Holds back the events of `text/event-stream` until they are complete, and measures them. It
 * passes on exactly the measured text. Otherwise a hostile stream, which the parser of the SDK
 * reads in another way than this one, could pass a large event unmeasured.
 *
 * Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
export class EventGuard {
  readonly #maxChars: number;
  #line: string[] = [];
  #fields: string[] = [];
  #data: string[] = [];
  #length = 0;
  #endedOnReturn = false;

  /**
   * @param maxChars how many characters an event may have, with all its lines, comments included
   */
  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /**
   * Reads a piece of the stream, and returns the events that are now complete, in the form to pass
   * on.
   *
   * @throws `BODY_TOO_LARGE` for an event that is too long, or whose data is nested too deep
   */
  *push(text: string): Generator<string> {
    if (text === '') return;
    // CR and LF in two chunks are one line end.
    const rest = this.#endedOnReturn && text.startsWith('\n') ? text.slice(1) : text;
    this.#endedOnReturn = text.endsWith('\r');
    let at = 0;
    for (const { 0: lineEnd, index } of rest.matchAll(/\r\n|\n|\r/g)) {
      this.#add(rest.slice(at, index));
      at = index + lineEnd.length;
      const line = this.#line.join('');
      this.#line = [];
      if (line === '') yield this.#end();
      else this.#keep(line);
    }
    this.#add(rest.slice(at));
  }

  #add(piece: string): void {
    if (piece === '') return;
    this.#length += piece.length;
    if (this.#length > this.#maxChars) {
      throw new EthosError('BODY_TOO_LARGE', 'the server sent a message that is too long');
    }
    this.#line.push(piece);
  }

  #keep(whole: string): void {
    // A decoder removes a byte order mark at the beginning of its input.
    const line = whole.replace(/^\uFEFF+/, '');
    // Comments were counted above, and are dropped.
    if (line === '' || line.startsWith(':')) return;
    this.#length++;
    this.#fields.push(line);
    const [, data] = /^data(?:: ?(.*))?$/s.exec(line) ?? [];
    if (data !== undefined) this.#data.push(data);
  }

  #end(): string {
    const event = this.#fields.length === 0 ? '' : `${this.#fields.join('\n')}\n\n`;
    if (jsonDepth(this.#data.join('\n')) > MAX_MESSAGE_DEPTH) {
      throw new EthosError(
        'BODY_TOO_LARGE',
        `the server sent a message nested deeper than ${MAX_MESSAGE_DEPTH} levels`,
      );
    }
    this.#fields = [];
    this.#data = [];
    this.#length = 0;
    return event;
  }
}
