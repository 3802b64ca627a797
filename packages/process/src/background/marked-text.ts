/** A part of a text that is not shown, and what stands for it. */
export interface HiddenPart {
  start: number;
  /** The index after its last character. */
  end: number;
  mark: string;
}

/** A text that grows. Parts of it are shown as marks. */
export class MarkedText {
  #text = '';
  /** In order, without overlaps. */
  readonly #hidden: HiddenPart[] = [];

  get text(): string {
    return this.#text;
  }

  get length(): number {
    return this.#text.length;
  }

  add(text: string): void {
    this.#text += text;
  }

  /** Hides a part from now on. Together with hidden parts that it overlaps, it becomes one. */
  hide({ start, end, mark }: HiddenPart): void {
    const hidden = this.#hidden;
    // New parts are near the end.
    let to = hidden.length;
    while (to > 0 && (hidden[to - 1]?.start ?? 0) >= end) to -= 1;
    let from = to;
    while (from > 0 && (hidden[from - 1]?.end ?? 0) > start) from -= 1;
    const over = hidden.slice(from, to);
    hidden.splice(from, to - from, {
      start: Math.min(start, ...over.map((part) => part.start)),
      end: Math.max(end, ...over.map((part) => part.end)),
      mark: over[0]?.mark ?? mark,
    });
  }

  /**
   * Shows the text from a place on. A hidden part is passed over as a whole.
   *
   * @param from the place to begin at
   * @param limits.maxChars the most characters to show
   * @param limits.end the place to end at; a hidden part that begins before it is passed over as a
   * whole
   * @returns what is shown, and the place after it
   */
  show(
    from: number,
    { maxChars, end: last }: { maxChars: number; end: number },
  ): { shown: string; next: number } {
    let shown = '';
    let next = from;
    const showUpTo = (place: number) => {
      const end = Math.min(place, last, next + maxChars - shown.length);
      const part = this.#text.slice(next, end);
      shown += part;
      next += part.length;
    };
    for (const { start, end, mark } of this.#hidden) {
      if (end <= next) continue;
      showUpTo(start);
      if (shown.length >= maxChars || start >= last) return { shown, next };
      shown += mark.slice(0, maxChars - shown.length);
      next = end;
    }
    showUpTo(this.#text.length);
    return { shown, next };
  }
}
