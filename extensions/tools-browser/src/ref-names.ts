import { randomInt } from 'node:crypto';

/** Matches a ref: two letters and a number. */
export const REF_FORM = /^[a-z]{2}[1-9]\d*$/;

/**
 * The numbers of a document begin at a random value below this. It is small, so that refs stay
 * short.
 */
const FIRST_BELOW = 500;

/**
 * Gives the refs of one session. A ref never names another element of the same session. Each
 * document gets two random letters, and numbers that were not used with these letters before. Refs
 * are short because every snapshot has many of them: up to 999, a ref takes two tokens of a model,
 * then three.
 */
export class RefNames {
  readonly #next = new Map<string, number>();

  /** Returns a function that gives the refs of a new document, one after another. */
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
