import fc from 'fast-check';
import { it } from 'vitest';
import { normalizeHost, parseHostPattern } from './hosts.js';

// Few labels and ports, so that patterns and hosts meet often.
const name = fc
  .array(fc.constantFrom('a', 'b', 'git', 'com'), { minLength: 1, maxLength: 4 })
  .map((labels) => labels.join('.'));
const address = fc.constantFrom('127.0.0.1', '10.0.0.1', '::1', '2001:db8::1');

export const host = fc.oneof({ weight: 4, arbitrary: name }, { weight: 1, arbitrary: address });
export const port = fc.constantFrom(80, 443, 8080);

const join = ([text, at]: readonly [string, number | null]) =>
  at === null ? text : `${text.includes(':') ? `[${text}]` : text}:${at}`;

export const hostWithPort = fc.tuple(host, fc.option(port)).map(join);
export const pattern = fc
  .tuple(
    fc.oneof(
      host,
      name.map((suffix) => `*.${suffix}`),
      fc.constant('*'),
    ),
    fc.option(port, { freq: 2 }),
  )
  .map(join);

it('the arbitraries give hosts and patterns that parse', () => {
  fc.assert(fc.property(host, (text) => normalizeHost(text) !== null));
  fc.assert(fc.property(pattern, (text) => parseHostPattern(text) !== null));
});
