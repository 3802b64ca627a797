import fc from 'fast-check';

const codePoint = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code), codeOf);

/**
 * Any text without halves of surrogate pairs. It is what `fc.string({ unit: 'binary' })` gives, which
 * first makes a table of 60 MB, in seconds.
 */
export function anyText(constraints: fc.StringConstraints = {}): fc.Arbitrary<string> {
  return fc.string({ ...constraints, unit: codePoint });
}

function codeOf(text: unknown): number {
  const code = typeof text === 'string' ? text.codePointAt(0) : undefined;
  if (code === undefined || String.fromCodePoint(code) !== text) throw new Error('no code point');
  return code;
}
