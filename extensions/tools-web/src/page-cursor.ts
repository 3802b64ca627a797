import { createHash } from 'node:crypto';
import { z } from 'zod';

const MAX_LENGTH = 400;

const payload = z.tuple([
  z.literal(1),
  z.int().min(1),
  z.string().length(16),
  z.string().length(16),
  z.string().length(16),
]);

/** Creates a cursor for a place in a text. The cursor tells nothing about the text. */
export function createCursor(
  { url, raw, text }: { url: string; raw: boolean; text: string },
  offset: number,
): string {
  const parts: z.infer<typeof payload> = [
    1,
    offset,
    hashOf(identityOf(url, raw)),
    hashOf(text),
    hashOf(text.slice(0, offset)),
  ];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** The place of a cursor in a text, or why it has none. */
export type CursorPlace =
  | { is: 'malformed' }
  | { is: 'of another URL' }
  /** The page changed after the model read the earlier parts. */
  | { is: 'of another text' }
  | { is: 'found'; offset: number; hasChangedSince: boolean };

/**
 * Finds the place of a cursor in a text.
 *
 * @param raw whether `text` is the source: its places differ
 */
export function placeOfCursor(
  cursor: string,
  { url, raw, text }: { url: string; raw: boolean; text: string },
): CursorPlace {
  const parts = parseCursor(cursor);
  if (parts === undefined) return { is: 'malformed' };
  const [, offset, identity, whole, before] = parts;
  if (identity !== hashOf(identityOf(url, raw))) return { is: 'of another URL' };
  if (whole === hashOf(text)) {
    return offset < text.length
      ? { is: 'found', offset, hasChangedSince: false }
      : { is: 'malformed' };
  }
  return offset < text.length && before === hashOf(text.slice(0, offset))
    ? { is: 'found', offset, hasChangedSince: true }
    : { is: 'of another text' };
}

/** Parses a cursor. Returns `undefined` for a text that is not a cursor of this tool. */
export function parseCursor(cursor: string): z.infer<typeof payload> | undefined {
  if (cursor.length > MAX_LENGTH || !/^[\w-]+$/.test(cursor)) return undefined;
  try {
    return payload.safeParse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

function identityOf(url: string, raw: boolean): string {
  return `${raw ? 'raw' : 'text'} ${url.replace(/#.*$/s, '')}`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
