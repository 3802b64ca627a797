import type { JSHandle, Page } from 'playwright-core';
import type { Deadline } from './deadline.js';
import { isOfFrame, type KnownNode } from './page-tree.js';

/** A document of a tab: its refs, and what the model has seen of it. */
export class PageDocument {
  /** The elements of the last snapshot, by their refs. */
  known = new Map<string, KnownNode>();
  /** The last snapshot that was shown, and its address and title. */
  shown: { lines: readonly string[]; url: string; title: string } | undefined;
  /** Whether the tab went to another address, perhaps only within the document. */
  mayBeGone = false;
  /** How often a frame has shown another document. */
  frames = 0;
  readonly #nextRef: () => string;
  readonly #refs = new Map<string, string>();
  #handle: JSHandle | undefined;

  constructor(nextRef: () => string) {
    this.#nextRef = nextRef;
  }

  /**
   * Returns the ref of an element. It stays the same as long as the element does; a new one gets a
   * new ref.
   */
  refOf(libraryRef: string): string {
    const given = this.#refs.get(libraryRef);
    if (given !== undefined) return given;
    const ref = this.#nextRef();
    this.#refs.set(libraryRef, ref);
    return ref;
  }

  /** Returns a new ref for something that is not an element. */
  newRef(): string {
    return this.#nextRef();
  }

  /** Forgets the elements in frames, because a frame shows another document. */
  onFrame(): void {
    this.frames += 1;
    this.forgetFrames();
  }

  forgetFrames(): void {
    for (const ref of this.#refs.keys()) if (isOfFrame({ ref })) this.#refs.delete(ref);
    for (const [ref, node] of this.known) if (isOfFrame(node)) this.known.delete(ref);
  }

  /** Takes a handle of the document, to distinguish it from the next one. */
  async hold(page: Page, deadline: Deadline): Promise<void> {
    if (this.#handle !== undefined) return;
    this.#handle = await deadline.race(page.evaluateHandle('document').catch(() => undefined));
  }

  /**
   * Whether the tab still shows this document. A handle ends with its document, whatever the page
   * does.
   */
  async isThere(deadline: Deadline): Promise<boolean> {
    if (this.#handle === undefined) return false;
    const asked = this.#handle.evaluate(() => true);
    return deadline.race(
      asked.then(
        () => true,
        () => false,
      ),
    );
  }
}
