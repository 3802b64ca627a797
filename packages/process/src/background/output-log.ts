import { takeStart } from '@ethosagent/policy';
import type { BackgroundOutput } from '@ethosagent/types';

/** How many characters of output are kept of one background process, and in how many chunks. */
const MAX_KEPT_CHARS = 1_000_000;
const MAX_CHUNKS = 20_000;

/** How many characters one read returns, unless it asks for another number. */
const DEFAULT_READ_CHARS = 100_000;
/** One character may take two UTF-16 units. */
const MIN_READ_CHARS = 2;

interface Chunk {
  stream: 'stdout' | 'stderr';
  text: string;
}

/**
 * The newest output of a process. Each character has a position, counted from the start of the
 * output.
 */
export class OutputLog {
  #chunks: Chunk[] = [];
  /** The position of the first kept character, and the one after the last. */
  #start = 0;
  #end = 0;

  get end(): number {
    return this.#end;
  }

  /**
   * Adds output. Over the cap of 1,000,000 characters, the oldest output is dropped.
   *
   * @param stream the stream of the output
   * @param text a text of any length
   */
  add(stream: Chunk['stream'], text: string): void {
    const last = this.#chunks.at(-1);
    // Many small writes share a chunk, so that they cost no more than their text.
    if (last?.stream === stream && last.text.length < 4096) last.text += text;
    else this.#chunks.push({ stream, text });
    this.#end += text.length;
    // Half of the chunks are dropped at once, so that not every new chunk has to go through all of
    // them.
    if (this.#chunks.length > MAX_CHUNKS) this.#drop(MAX_CHUNKS / 2);
    let count = 0;
    let kept = this.#end - this.#start;
    for (const chunk of this.#chunks) {
      kept -= chunk.text.length;
      if (kept < MAX_KEPT_CHARS) break;
      count += 1;
    }
    if (count > 0) this.#drop(count);
  }

  /**
   * Reads the output from a position on. A cursor out of range becomes the nearest position.
   *
   * @param cursor the position to begin at, in UTF-16 units from the start of the output
   * @param maxChars the most UTF-16 units to return
   * @returns the pieces, the next cursor, and how many UTF-16 units before them were dropped
   */
  read(cursor = 0, maxChars = DEFAULT_READ_CHARS): Omit<BackgroundOutput, 'process'> {
    const asked = Math.min(placeOf(cursor, 0), this.#end);
    const from = Math.max(asked, this.#start);
    let room = Math.max(placeOf(maxChars, DEFAULT_READ_CHARS), MIN_READ_CHARS);
    let place = this.#start;
    let next = from;
    const chunks: Chunk[] = [];
    for (const { stream, text } of this.#chunks) {
      const begin = Math.max(0, from - place);
      place += text.length;
      if (begin >= text.length) continue;
      const part = wholeCharacters(text.slice(begin, begin + room), text.length > begin + room);
      if (part === '') break;
      chunks.push({ stream, text: part });
      next += part.length;
      room -= part.length;
    }
    return { chunks, cursor: next, droppedChars: from - asked };
  }

  #drop(count: number): void {
    for (const { text } of this.#chunks.splice(0, count)) this.#start += text.length;
  }
}

/** If a text is cut between the two units of a character, the first unit is dropped too. */
function wholeCharacters(text: string, isCut: boolean): string {
  return isCut ? takeStart(text, text.length) : text;
}

function placeOf(value: number, otherwise: number): number {
  return Number.isNaN(value) ? otherwise : Math.max(0, Math.floor(value));
}
