import { takeEnd, takeStart } from '@ethosagent/policy';

/** Keeps the beginning and the end of a text, whatever its length. */
export class HeadTail {
  readonly #half: number;
  #head = '';
  #tail = '';
  #chars = 0;

  constructor(maxChars: number) {
    this.#half = Math.max(Math.floor(maxChars / 2), 1);
  }

  add(text: string): void {
    this.#chars += text.length;
    const room = this.#half - this.#head.length;
    this.#head += text.slice(0, room);
    const rest = room > 0 ? text.slice(room) : text;
    // A copy, because a slice would keep the whole chunk in memory.
    this.#tail = `${this.#tail}${rest.slice(-this.#half)}`;
    if (this.#tail.length > 4 * this.#half) this.#tail = this.#tail.slice(-this.#half);
  }

  get chars(): number {
    return this.#chars;
  }

  get isCut(): boolean {
    return this.#chars > 2 * this.#half;
  }

  /**
   * Returns the whole text, or both ends with a line between them that says how much was left out.
   *
   * @param change is applied to the added text, and not to that line
   */
  text(change = (text: string) => text): string {
    if (!this.isCut) return change(this.#head + this.#tail);
    const head = takeStart(this.#head, this.#half);
    const tail = takeEnd(this.#tail, this.#half);
    const left = this.#chars - head.length - tail.length;
    return `${change(head)}\n[${left} characters left out]\n${change(tail)}`;
  }
}
