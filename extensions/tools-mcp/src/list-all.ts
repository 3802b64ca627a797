import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { z } from 'zod';
import { MAX_CURSOR_CHARS, MAX_PAGES } from './limits.js';
import { withOwnSignal } from './request-signal.js';

/** A list of a server, with all its pages. */
export interface Listing<T> {
  items: T[];
  /** Whether the list is incomplete because it was over a limit. */
  cut: boolean;
}

const LISTS = {
  'tools/list': 'tools',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
  'prompts/list': 'prompts',
} as const;

/**
 * Reads a list to its end, or until it is too long, has too many pages, or repeats a page. Each entry
 * is read as it comes: kept as they are, the entries of all pages could fill the memory.
 */
export async function listAll<T>(
  client: Client,
  method: keyof typeof LISTS,
  opts: { maxItems: number; signal: AbortSignal; timeoutMs: number; read: (item: unknown) => T },
): Promise<Listing<T>> {
  const key = LISTS[method];
  const pageSchema = z.looseObject({
    [key]: z.array(z.unknown()),
    nextCursor: z.string().nullish(),
  });
  const items: T[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await withOwnSignal(opts.signal, (signal) =>
      client.request({ method, params }, pageSchema, { signal, timeout: opts.timeoutMs }),
    );
    const list = answer[key];
    for (const item of Array.isArray(list) ? list : []) {
      if (items.length >= opts.maxItems) return { items, cut: true };
      items.push(opts.read(item));
    }
    const { nextCursor } = answer;
    if (typeof nextCursor !== 'string' || nextCursor === '') return { items, cut: false };
    if (nextCursor.length > MAX_CURSOR_CHARS || seen.has(nextCursor)) return { items, cut: true };
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  return { items, cut: true };
}
