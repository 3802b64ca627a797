import type { ResultImage } from '@ethosagent/core';
import type { ResultRecord } from './records.js';

/** Images of tool results that the model is shown; below what providers take for a request. */
const MAX_IMAGES = 16;
/** Characters of base64 of all of them. */
const MAX_CHARS = 16_000_000;
/** What is left of both when there are more: half, since the history changes each time. */
const KEPT = 0.5;

/** What the model is told instead of an image that it was shown. */
const GONE = '[an image of this result is no longer shown; call the tool again to see it]';

/** The images of a history. Those that the model is no longer shown are let go. */
export class ShownImages {
  readonly #shown: { result: ResultRecord; image: ResultImage }[] = [];
  #chars = 0;

  /** Takes the images of a result, and removes the oldest from theirs. */
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
      const { note = '' } = result;
      if (!note.endsWith(GONE)) result.note = note === '' ? GONE : `${note}\n${GONE}`;
    }
  }
}
