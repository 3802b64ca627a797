import { takeEnd, takeStart } from '@ethosagent/policy';
/** Keeps the beginning and the end of a text of any length, in bounded memory. */
export class HeadTail {
  readonly #limit: number;
  #head = '';
  #tail: string[] = [];
  #tailChars = 0;
  #chars = 0;

  /** @param limit how many characters of the beginning to keep, and as many of the end */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The number of added characters, kept or not. */
  get chars(): number {
    return this.#chars;
  }

  add(text: string): void {
    this.#chars += text.length;
    const room = this.#limit - this.#head.length;
    if (room > 0) this.#head += text.slice(0, room);
    const rest = room > 0 ? text.slice(room) : text;
    if (rest === '') return;
    const kept = rest.slice(-this.#limit);
    this.#tail.push(kept);
    this.#tailChars += kept.length;
    while (this.#tail.length > 1 && this.#tailChars - (this.#tail[0]?.length ?? 0) >= this.#limit) {
      this.#tailChars -= this.#tail.shift()?.length ?? 0;
    }
    // Many small pieces cost more than their text.
    if (this.#tail.length > 1024) {
      const joined = this.#tail.join('').slice(-this.#limit);
      this.#tail = [joined];
      this.#tailChars = joined.length;
    }
  }

  /**
   * Returns at most `max` characters of the text, and a line that says how many are left out. It
   * cuts at whole lines if it can.
   *
   * @param quote is applied to the added text, and not to that line
   */
  text(max: number, quote = (text: string) => text): { text: string; omittedChars: number } {
    const tail = this.#tail.join('');
    const kept = this.#head.length + Math.min(tail.length, this.#limit);
    if (kept >= this.#chars && this.#chars <= max)
      return { text: quote(this.#head + tail), omittedChars: 0 };
    const half = Math.floor(Math.min(max, this.#limit * 2) / 2);
    // While all of it is here, the end may lie within the beginning.
    const all = kept >= this.#chars ? this.#head + tail : undefined;
    const head = wholeLinesAtStart(takeStart(all ?? this.#head, half));
    const last = wholeLinesAtEnd(takeEnd(all ?? tail, half));
    const omittedChars = this.#chars - head.length - last.length;
    const gap = `${head.endsWith('\n') || head === '' ? '' : '\n'}[… ${omittedChars} characters left out …]\n`;
    return { text: quote(head) + gap + quote(last), omittedChars };
  }
}

function wholeLinesAtStart(text: string): string {
  const end = text.lastIndexOf('\n') + 1;
  if (end > text.length / 2) return text.slice(0, end);
  return text;
}

function wholeLinesAtEnd(text: string): string {
  const start = text.indexOf('\n') + 1;
  if (start > 0 && start < text.length / 2) return text.slice(start);
  return text;
}
