import { randomInt } from 'node:crypto';

/** What a ref looks like: two letters and a number. */
export const REF_FORM = /^[a-z]{2}[1-9]\d*$/;

/** Where the numbers begin, by chance: they stay short for a model. */
const FIRST_BELOW = 500;

/**
 * The refs of one session. Each document has two letters by chance, and numbers that were not given
 * with these letters before: no ref ever names another element of the session. They are short since
 * each stands in every snapshot: two tokens of a model up to 999, then three.
 */
export class RefNames {
  readonly #next = new Map<string, number>();

  /** Gives the refs of a new document, one after another. */
  ofDocument(): () => string {
    const letters = letter() + letter();
    return () => {
      const number = this.#next.get(letters) ?? randomInt(1, FIRST_BELOW);
      this.#next.set(letters, number + 1);
      return `${letters}${number}`;
    };
  }
}

const letter = () => String.fromCharCode(randomInt(0x61, 0x7b));
