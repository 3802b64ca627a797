const MARKS = [
  { encoding: 'utf-8', mark: [0xef, 0xbb, 0xbf] },
  // Comes before UTF-16: its mark begins with the mark of UTF-16.
  { encoding: 'utf-32le', mark: [0xff, 0xfe, 0, 0] },
  { encoding: 'utf-32be', mark: [0, 0, 0xfe, 0xff] },
  { encoding: 'utf-16le', mark: [0xff, 0xfe] },
  { encoding: 'utf-16be', mark: [0xfe, 0xff] },
] as const;

/** The encoding that the first bytes of a text name, and how many bytes they are. */
export interface ByteOrderMark {
  /** In lower case, e.g. `utf-16le`. */
  readonly encoding: string;
  readonly mark: readonly number[];
}

/**
 * The byte order mark that a text begins with.
 *
 * @param bytes the beginning of the text; four bytes are enough
 * @returns the mark and its encoding, or `undefined`
 */
export function readByteOrderMark(bytes: Uint8Array): ByteOrderMark | undefined {
  return MARKS.find(({ mark }) => mark.every((byte, at) => bytes[at] === byte));
}

/**
 * The byte order mark of an encoding; empty for one that has none.
 *
 * @param encoding as `readByteOrderMark` names it, e.g. `utf-16le`
 * @returns the bytes
 */
export function byteOrderMarkOf(encoding: string): readonly number[] {
  return MARKS.find((each) => each.encoding === encoding)?.mark ?? [];
}

/**
 * Whether bytes are UTF-8 with a few broken ones: any other encoding would garble the rest.
 *
 * @param decoded the bytes, decoded as UTF-8, with U+FFFD for what is broken
 * @returns whether less than a quarter of the characters outside ASCII are broken
 */
export function isMostlyUtf8(decoded: string): boolean {
  const foreign = decoded.match(/[^\0-\x7f]/gu)?.length ?? 0;
  const broken = decoded.match(/\ufffd/g)?.length ?? 0;
  return broken * 4 < foreign;
}
