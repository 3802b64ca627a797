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

/** Any JSON value. `fc.jsonValue({ noUnicodeString: false })` makes the same table. */
export function anyJson(): fc.Arbitrary<unknown> {
  const number = fc
    .double({ noNaN: true, noDefaultInfinity: true })
    // JSON has no negative zero.
    .map((value) => (value === 0 ? 0 : value));
  return fc.anything({
    key: anyText(),
    values: [fc.constant(null), fc.boolean(), fc.integer(), number, anyText()],
  });
}

const escaped = anyText({ maxLength: 8 }).map(encodeURIComponent);
const prefixed = (prefix: string) =>
  fc.option(
    escaped.map((text) => prefix + text),
    { nil: '' },
  );

/** The authority of a URL, perhaps with a user and a port. `fc.webAuthority` makes the same table. */
export function anyAuthority(): fc.Arbitrary<string> {
  const user = fc.tuple(escaped, prefixed(':')).map(([name, password]) => `${name}${password}@`);
  const host = fc.oneof(
    fc.domain(),
    fc.ipV4Extended(),
    fc.ipV6().map((address) => `[${address}]`),
  );
  const port = fc.nat(65_535).map((at) => `:${at}`);
  return fc
    .tuple(fc.option(user, { nil: '' }), host, fc.option(port, { nil: '' }))
    .map((parts) => parts.join(''));
}

/** A URL of the web. `fc.webUrl` makes the same table. */
export function anyUrl(): fc.Arbitrary<string> {
  const path = fc.array(
    escaped.map((segment) => `/${segment}`),
    { maxLength: 4 },
  );
  return fc
    .tuple(fc.constantFrom('http', 'https'), anyAuthority(), path, prefixed('?'), prefixed('#'))
    .map(([scheme, authority, segments, query, fragment]) =>
      [scheme, '://', authority, ...segments, query, fragment].join(''),
    );
}
