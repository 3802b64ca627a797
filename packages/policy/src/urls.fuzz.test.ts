import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import { anyUrl, readCorpus } from '@ethosagent/test-support';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wildHost } from './fixtures/hosts-arbitraries.js';
import { parseUrl } from './urls.js';

const corpus = readCorpus<{ parseUrl: string[] }>(
  new URL('./fixtures/corpus/urls.json', import.meta.url),
);
const BASE = 'https://base.example/a/b?c';

function reference(text: string, base?: string): string | undefined {
  try {
    return new URL(text, base).href;
  } catch {
    return undefined;
  }
}

const part = fc.oneof(
  wildHost,
  fc.constantFrom('http:', 'HTTPS:', '//', '/', '\\', '?q', '#f', '..', 'data:,x', 'blob:', '\t'),
);
const wildUrl = fc.oneof(
  fc.array(part, { maxLength: 6 }).map((parts) => parts.join('')),
  anyUrl(),
);

describe('parseUrl, whatever the text', () => {
  fuzz(
    'reads what the URL parser reads, with a base and without',
    wildUrl,
    (text) => {
      expect(parseUrl(text)?.href).toBe(reference(text));
      expect(parseUrl(text, BASE)?.href).toBe(reference(text, BASE));
    },
    { corpus: corpus.parseUrl },
  );

  it.each([
    ['a long query', `http://a.example/?${'é'.repeat(100_000)}`],
    ['a long path', `http://a.example/${'%20漢'.repeat(20_000)}`],
    ['a long relative path', 'x'.repeat(100_000)],
    ['a long data URL', `data:text/plain,${'x'.repeat(100_000)}`],
  ])('reads %s', (_name, text) => {
    expect(parseUrl(text, BASE)?.href).toBe(reference(text, BASE));
  });

  it('reads a Latin-1 URL the same the twenty thousandth time', () => {
    for (let time = 0; time < 20_000; time += 1) {
      if (parseUrl('http://b\u00fccher.de/') === null) expect.fail(`refused at time ${time}`);
      if (parseUrl('http://\u00c3\u0085/') !== null) expect.fail(`accepted at time ${time}`);
    }
  });

  const letters = (size: number) =>
    Array.from({ length: size }, (_, at) => String.fromCodePoint(0x4e00 + (at % 20_000))).join('');
  const HOSTILE: Record<string, (size: number) => string> = {
    'a host of ideographs': (size) => `http://${letters(size)}/`,
    'the same without slashes': (size) => `http:${letters(size)}/`,
    'the same after a tab between the slashes': (size) => `http:/\t/${letters(size)}/`,
    'the same after many slashes': (size) => `http:${'/\\\n'.repeat(100)}${letters(size)}/`,
    'the same after a user name': (size) => `http://user:pass@${letters(size)}/`,
    'the same percent-encoded': (size) => `http://${encodeURIComponent(letters(size / 9))}/`,
    'a host without a scheme': (size) => `//${letters(size)}/`,
    punycode: (size) => `http://xn--${'bcher'.repeat(size / 5)}-kva/`,
    'a user name': (size) => `http://${'é'.repeat(size)}@a.example/`,
    slashes: (size) => `http:${'/'.repeat(size)}a`,
    dots: (size) => `http://a/${'../'.repeat(size / 3)}`,
    ideographs: letters,
  };
  for (const [what, inputOf] of Object.entries(HOSTILE)) {
    growsLinearly(`takes linear time for ${what}`, inputOf, (text) => parseUrl(text, BASE));
  }
});
