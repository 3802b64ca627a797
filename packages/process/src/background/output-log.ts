import { takeStart } from '@ethosagent/policy';
import type { BackgroundOutput } from '@ethosagent/types';
import { type HiddenPart, MarkedText } from './marked-text.js';

/** How many characters of output are kept of one background process, and in how many chunks. */
const MAX_KEPT_CHARS = 1_000_000;
const MAX_CHUNKS = 20_000;

/** How many characters one read returns, unless it asks for another number. */
const DEFAULT_READ_CHARS = 100_000;
/** One character may take two UTF-16 units. */
const MIN_READ_CHARS = 2;

type Stream = 'stdout' | 'stderr';

interface Chunk {
  stream: Stream;
  content: MarkedText;
}

/** Finds the secrets in a text. */
export interface SecretSearch {
  /** A number of characters that is larger than nearly every form of a secret. */
  readonly longestForm: number;
  /** Returns where the secrets are, and what is shown instead, in order and without overlaps. */
  marks(text: string): readonly HiddenPart[];
  /** Returns how many characters at the end of a text may be the start of a secret. */
  begunAtEnd(text: string): number;
}

/**
 * How many characters before new output are searched again, besides the longest form of a secret.
 * What is encoded in groups of characters can't be decoded from the middle of a group.
 */
const CONTEXT_CHARS = 256;

/**
 * The newest output of a process. Each character has a position, counted from the start of the
 * output. A secret is hidden when its last character arrives, also if it lies across chunks. Until
 * then, its start can't be read.
 */
export class OutputLog {
  readonly #secrets: () => SecretSearch | undefined;
  #chunks: Chunk[] = [];
  /** The newest chunks of each stream. They may be dropped already. */
  readonly #recent: Record<Stream, MarkedText[]> = { stdout: [], stderr: [] };
  /** The position of the first kept character, and the one after the last. */
  #start = 0;
  #end = 0;
  #isFinished = false;

  /** @param secrets returns what finds the secrets that are known, if there are any */
  constructor(secrets: () => SecretSearch | undefined = () => undefined) {
    this.#secrets = secrets;
  }

  /**
   * The position up to which the output can be read now. What follows may be the start of a secret
   * whose rest has not arrived.
   */
  get readableEnd(): number {
    const secrets = this.#secrets();
    if (secrets === undefined || this.#isFinished) return this.#end;
    return Math.min(this.#begunIn('stdout', secrets), this.#begunIn('stderr', secrets));
  }

  /** Lets all output be read: no more of it comes. */
  finish(): void {
    this.#isFinished = true;
  }

  /**
   * Adds output. Over the cap of 1,000,000 characters, the oldest output is dropped.
   *
   * @param stream the stream of the output
   * @param text a text of any length
   */
  add(stream: Stream, text: string): void {
    let last = this.#chunks.at(-1);
    // Many small writes share a chunk, so that they cost no more than their text.
    if (last?.stream !== stream || last.content.length >= 4096) {
      last = { stream, content: new MarkedText() };
      this.#chunks.push(last);
      this.#recent[stream].push(last.content);
    }
    last.content.add(text);
    this.#end += text.length;
    this.#hideSecrets(stream, text.length);
    // Half of the chunks are dropped at once, so that not every new chunk has to go through all of
    // them.
    if (this.#chunks.length > MAX_CHUNKS) this.#drop(MAX_CHUNKS / 2);
    let count = 0;
    let kept = this.#end - this.#start;
    for (const chunk of this.#chunks) {
      kept -= chunk.content.length;
      if (kept < MAX_KEPT_CHARS) break;
      count += 1;
    }
    if (count > 0) this.#drop(count);
  }

  /**
   * Reads the output from a position on, up to `readableEnd`. A cursor out of range becomes the
   * nearest position.
   *
   * @param cursor the position to begin at, in UTF-16 units from the start of the output
   * @param maxChars the most UTF-16 units to return
   * @returns the pieces, the next cursor, and how many UTF-16 units before them were dropped
   */
  read(cursor = 0, maxChars = DEFAULT_READ_CHARS): Omit<BackgroundOutput, 'process'> {
    const asked = Math.min(placeOf(cursor, 0), this.#end);
    const from = Math.max(asked, this.#start);
    const end = this.readableEnd;
    let room = Math.max(placeOf(maxChars, DEFAULT_READ_CHARS), MIN_READ_CHARS);
    let place = this.#start;
    let next = from;
    const chunks: BackgroundOutput['chunks'] = [];
    for (const { stream, content } of this.#chunks) {
      const begin = Math.max(0, from - place);
      const start = place;
      place += content.length;
      if (begin >= content.length) continue;
      if (room <= 0 || start + begin >= end) break;
      const part = content.show(begin, { maxChars: room, end: end - start });
      const isCut = part.next < content.length;
      const text = wholeCharacters(part.shown, isCut);
      next = start + part.next - (part.shown.length - text.length);
      if (text !== '') chunks.push({ stream, text });
      room -= text.length;
      if (isCut) break;
    }
    return { chunks, cursor: next, droppedChars: from - asked };
  }

  #hideSecrets(stream: Stream, added: number): void {
    const secrets = this.#secrets();
    if (secrets === undefined) {
      this.#recent[stream] = this.#recent[stream].slice(-1);
      return;
    }
    let missing = added + secrets.longestForm + CONTEXT_CHARS;
    const parts: { content: MarkedText; from: number }[] = [];
    for (const content of this.#recent[stream].toReversed()) {
      const from = Math.max(0, content.length - missing);
      parts.push({ content, from });
      missing -= content.length - from;
      if (missing === 0) break;
    }
    parts.reverse();
    this.#recent[stream] = parts.map(({ content }) => content);
    const found = secrets.marks(
      parts.map(({ content, from }) => content.text.slice(from)).join(''),
    );
    for (const { start, end, mark } of found) {
      let place = 0;
      let shown = mark;
      for (const { content, from } of parts) {
        const begin = place;
        place += content.length - from;
        if (start >= place || end <= begin) continue;
        const within = (at: number) => from + Math.min(Math.max(at, begin), place) - begin;
        content.hide({ start: within(start), end: within(end), mark: shown });
        // One mark stands for the whole secret.
        shown = '';
      }
    }
  }

  /** The position where a secret may have begun at the end of a stream; else that of its end. */
  #begunIn(stream: Stream, secrets: SecretSearch): number {
    const texts: string[] = [];
    let missing = secrets.longestForm;
    for (const { text } of this.#recent[stream].toReversed()) {
      texts.unshift(text);
      missing -= text.length;
      if (missing <= 0) break;
    }
    let begun = secrets.begunAtEnd(texts.join(''));
    if (begun === 0) return this.#end;
    let place = this.#end;
    for (const { stream: of, content } of this.#chunks.toReversed()) {
      place -= content.length;
      if (of !== stream) continue;
      if (begun <= content.length) return place + content.length - begun;
      begun -= content.length;
    }
    return this.#start;
  }

  #drop(count: number): void {
    for (const { content } of this.#chunks.splice(0, count)) this.#start += content.length;
  }
}

/** If a text is cut between the two units of a character, the first unit is dropped too. */
function wholeCharacters(text: string, isCut: boolean): string {
  return isCut ? takeStart(text, text.length) : text;
}

function placeOf(value: number, otherwise: number): number {
  return Number.isNaN(value) ? otherwise : Math.max(0, Math.floor(value));
}
