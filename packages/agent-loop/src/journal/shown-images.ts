import type { ResultImage } from '@ethosagent/core';
import type { ResultRecord } from './records.js';

/**
 * How many images of tool results the model is shown. Fewer than providers accept in one request.
 */
const MAX_IMAGES = 16;
/** How many characters of base64 all of them may have. */
const MAX_CHARS = 16_000_000;
/**
 * The share of both limits that is kept when they are exceeded. It is a half, so that the history
 * does not change with every new image.
 */
const KEPT = 0.5;

/** Replaces an image that the model was shown before. */
const GONE = '[an image of this result is no longer shown; call the tool again to see it]';

/** Replaces the images of a result with which a request was refused. */
const REFUSED =
  "[the images of this result are left out: the model's provider refused the request with them]";

/** The images of a history. Images that are no longer shown are removed from it. */
export class ShownImages {
  readonly #shown: { result: ResultRecord; image: ResultImage }[] = [];
  #chars = 0;

  /**
   * Adds the images of a result. Removes the oldest images from their results if there are too
   * many.
   */
  add(result: ResultRecord): void {
    for (const image of result.images ?? []) {
      this.#shown.push({ result, image });
      this.#chars += image.data.length;
    }
    if (this.#shown.length <= MAX_IMAGES && this.#chars <= MAX_CHARS) return;
    while (this.#shown.length > MAX_IMAGES * KEPT || this.#chars > MAX_CHARS * KEPT) {
      const oldest = this.#shown.shift();
      if (oldest === undefined) return;
      this.#chars -= oldest.image.data.length;
      const { result, image } = oldest;
      result.images = result.images?.filter((each) => each !== image) ?? [];
      addNote(result, GONE);
    }
  }

  /** Removes the images of a result. */
  refuse(result: ResultRecord | undefined): void {
    if (result === undefined) return;
    const kept = this.#shown.filter((each) => each.result !== result);
    this.#shown.splice(0, this.#shown.length, ...kept);
    this.#chars = kept.reduce((sum, { image }) => sum + image.data.length, 0);
    result.images = [];
    addNote(result, REFUSED);
  }
}

function addNote(result: ResultRecord, line: string): void {
  const { note = '' } = result;
  if (!note.endsWith(line)) result.note = note === '' ? line : `${note}\n${line}`;
}
