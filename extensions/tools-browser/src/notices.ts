import { oneLine } from '@ethosagent/policy';

const MAX_NOTICES = 8;
const MAX_CHARS = 240;

/** Keeps the events of a page that no answer has reported yet. Their number is limited. */
export class Notices {
  #texts: string[] = [];
  #more = 0;

  add(text: string): void {
    const line = oneLine(text, MAX_CHARS);
    if (this.#texts.at(-1) === line || this.#texts.length >= MAX_NOTICES) this.#more += 1;
    else this.#texts.push(line);
  }

  /** Removes a notice that the answer reports in another way. */
  drop(text: string): void {
    const at = this.#texts.indexOf(oneLine(text, MAX_CHARS));
    if (at !== -1) this.#texts.splice(at, 1);
  }

  /** Returns all notices as lines, and forgets them. */
  take(): string[] {
    const lines = this.#texts;
    if (this.#more > 0) lines.push(`${this.#more} more of this kind`);
    this.#texts = [];
    this.#more = 0;
    return lines;
  }
}
