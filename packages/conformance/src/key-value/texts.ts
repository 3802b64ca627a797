import fc from 'fast-check';

/** Texts that some layer of a store may not treat as plain text. */
export const NASTY_TEXTS = [
  '',
  'plain',
  '\0',
  'a\0b',
  '😀',
  '\uffff',
  '\u{10ffff}',
  "'; DROP TABLE kv; --",
  '../../etc/passwd',
  'C:\\temp',
  'tool:other',
  '__proto__',
  'constructor',
  '\u202eabc',
  ' padded ',
  'line\nbreak\r\n',
];

/** Texts with characters that often cause bugs in stores. */
export const TEXT = fc.string({
  unit: fc.constantFrom(
    ...['a', 'A', 'b', '%', '_', '*', ':', '/', '\\', "'", '"', '\0', ' ', '\x7f', '\u00e9'],
    ...['e\u0301', '\ud7ff', '\ue000', '\uffff', '😀', '\u{10ffff}'],
  ),
  maxLength: 5,
});

/** Compares two keys by their bytes, which is the order of `list`. */
export function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
