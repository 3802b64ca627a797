import { createHash } from 'node:crypto';
import type { Download } from './download.js';
import type { PageContent } from './page-content.js';

const MAX_ENTRIES = 32;
const MAX_CHARS = 16_000_000;

/**
 * Keeps conversions of downloads, so that all parts of a page come from one conversion. The key is made
 * from all inputs, above all the bytes of the download. So only a call that has the bytes finds the
 * conversion.
 */
export class ContentCache {
  readonly #contents = new Map<string, PageContent>();
  #chars = 0;

  get(key: string): PageContent | undefined {
    const content = this.#contents.get(key);
    if (content === undefined) return undefined;
    // The least recently used go first.
    this.#contents.delete(key);
    this.#contents.set(key, content);
    return content;
  }

  set(key: string, content: PageContent): void {
    const chars = content.text?.length ?? 0;
    if (chars === 0 || chars > MAX_CHARS || this.#contents.has(key)) return;
    this.#contents.set(key, content);
    this.#chars += chars;
    for (const [oldest, { text = '' }] of this.#contents) {
      if (this.#contents.size <= MAX_ENTRIES && this.#chars <= MAX_CHARS) return;
      this.#contents.delete(oldest);
      this.#chars -= text.length;
    }
  }
}

/** Returns the key of a conversion: a hash of everything that the content is made from. */
export function contentKey({ bytes, headers, isPartial, url }: Download, raw: boolean): string {
  const type = headers.get('content-type');
  return createHash('sha256')
    .update(JSON.stringify([url, type, isPartial, raw]))
    .update(bytes)
    .digest('base64url');
}
