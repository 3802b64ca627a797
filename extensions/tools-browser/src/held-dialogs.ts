import { oneLine } from '@ethosagent/policy';
import type { Dialog } from 'playwright-core';
import { hidingValues } from './hidden-values.js';
import type { Notices } from './notices.js';

const MESSAGE_CHARS = 300;

/** A question of a page that waits for its answer. The page stands still until then. */
export interface HeldDialog {
  /** The ref of this question. No later question gets the same. */
  ref: string;
  /** The question, in words for the model. */
  text: string;
  answer(accept: boolean, text?: string): Promise<void>;
}

export interface HeldDialogsOptions {
  notices: Notices;
  nextRef: () => string;
  /** Returns the texts that must not be shown. */
  secrets: () => readonly string[];
}

/**
 * Handles the dialogs of pages. An alert is closed. A dialog that would keep the browser on the
 * page is accepted. A question is held for `browser_dialog` if the call that caused it can report
 * it; otherwise it is dismissed.
 */
export class HeldDialogs {
  /** Whether questions are held. While a page is being left, they are not. */
  isHolding = true;
  readonly #options: HeldDialogsOptions;
  readonly #listeners = new Set<() => void>();
  #held: HeldDialog | undefined;

  constructor(options: HeldDialogsOptions) {
    this.#options = options;
  }

  get held(): HeldDialog | undefined {
    return this.#held;
  }

  /** Handles a dialog. @param isShown whether it is a dialog of the shown page */
  add(dialog: Dialog, isShown: boolean): void {
    const type = dialog.type();
    if (type === 'beforeunload') {
      quietly(dialog.accept());
      return;
    }
    const { notices, nextRef, secrets } = this.#options;
    const hide = hidingValues(secrets());
    const quoted = (text: string) => JSON.stringify(oneLine(hide(text), MESSAGE_CHARS));
    const said = quoted(dialog.message());
    if (type === 'alert') {
      quietly(dialog.accept());
      notices.add(`The page showed an alert: ${said}`);
      return;
    }
    if (!isShown || !this.isHolding || this.#held !== undefined) {
      quietly(dialog.dismiss());
      notices.add(`The page showed a dialog (${type}), which was dismissed: ${said}`);
      return;
    }
    const offered = dialog.defaultValue();
    const held: HeldDialog = {
      ref: nextRef(),
      text: `${type}: ${said}${offered === '' ? '' : `, with ${quoted(offered)} filled in`}`,
      answer: async (accept, text) => {
        this.#forget(held);
        await (accept ? dialog.accept(text) : dialog.dismiss());
      },
    };
    this.#held = held;
    for (const listener of this.#listeners) listener();
  }

  /** Dismisses the held question, if there is one. */
  dismiss(): void {
    if (this.#held !== undefined) quietly(this.#held.answer(false));
  }

  /** Waits for the next question. Call `stop` to end the wait. */
  opened(): { whenOpen: Promise<'dialog'>; stop: () => void } {
    let listener = () => {};
    const whenOpen = new Promise<'dialog'>((resolve) => {
      listener = () => resolve('dialog');
    });
    this.#listeners.add(listener);
    return { whenOpen, stop: () => this.#listeners.delete(listener) };
  }

  #forget(held: HeldDialog): void {
    if (this.#held === held) this.#held = undefined;
  }
}

/** Returns the text that tells the model of a held question. */
export function toldDialog({ ref, text }: HeldDialog): string {
  return `The page waits for an answer to its dialog ${ref}, a ${text}. Answer it with browser_dialog; until then nothing else works on this page.`;
}

function quietly(work: Promise<unknown>): void {
  work.catch(() => {});
}
