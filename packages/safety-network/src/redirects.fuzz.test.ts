import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import { anyUrl } from '@ethosagent/test-support';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { followRedirect, redirectTarget } from './redirects.js';

const FROM = new URL('https://a.example/x/y?z');
const answer = (status: number, location: string) =>
  new Response(null, { status, headers: { location } });

const piece = fc.constantFrom(
  ...['http:', 'https:', '//', '/', '\\', 'b.example', 'a.example', ':443', '@', '..', '?q', '#f'],
  ...['\u00e9', '\u00c3\u00a9', '\u00ff', '[', ']', '%', ' ', 'data:', 'javascript:', '\t'],
);
const location = fc.oneof(
  fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('').trim()),
  anyUrl(),
);
const status = fc.constantFrom(301, 302, 303, 307, 308);

describe('redirectTarget, whatever the Location', () => {
  fuzz(
    'is what the URL parser makes of it as UTF-8, or NETWORK_FAILED',
    fc.tuple(status, location),
    ([status, location]) => {
      const text = Buffer.from(location, 'latin1').toString();
      let expected: string | undefined;
      try {
        expected = new URL(text, FROM).href;
      } catch {
        // The location is malformed.
      }
      try {
        expect(redirectTarget(answer(status, location), FROM)?.href).toBe(expected);
      } catch (error) {
        expect(error).toMatchObject({ code: 'NETWORK_FAILED' });
        expect(expected).toBeUndefined();
      }
    },
  );

  fuzz(
    'is nothing for any other status',
    fc.tuple(fc.integer({ min: 200, max: 599 }), location),
    ([status, location]) => {
      if ([301, 302, 303, 307, 308].includes(status)) return;
      expect(redirectTarget(answer(status, location), FROM)).toBeNull();
    },
  );

  // What a server can send as UTF-8. Headers are limited to 16 KB, but not those of a host's own
  // fetch.
  const utf8 = (text: string) => Buffer.from(text).toString('latin1');
  growsLinearly(
    'takes linear time for a host of ideographs',
    (size) =>
      answer(
        302,
        utf8(
          `//${Array.from({ length: size / 3 }, (_, at) => String.fromCodePoint(0x4e00 + (at % 20_000))).join('')}`,
        ),
      ),
    (response) => redirectTarget(response, FROM),
  );
});

describe('followRedirect, whatever the request', () => {
  const header = fc.tuple(
    fc.constantFrom(
      'authorization',
      'Cookie',
      'X-Api-Key',
      'accept',
      'Accept-Language',
      'user-agent',
      'content-type',
      'Content-Length',
      'referer',
      'origin',
    ),
    fc.constantFrom('v', 'SECRET'),
  );
  const body = fc.constantFrom<RequestInit['body'][]>(
    undefined,
    null,
    'text',
    new Uint8Array([1]),
    new URLSearchParams('a=1'),
  );
  const target = fc.constantFrom(
    'https://a.example/2',
    'http://a.example/',
    'https://a.example:8443/',
    'https://b.a.example/',
    'https://b.example/',
  );
  const method = fc.constantFrom('GET', 'get', 'HEAD', 'POST', 'post', 'PUT', 'DELETE', 'PATCH');

  fuzz(
    'takes to another origin nothing that may be a credential, and methods as WHATWG says',
    fc.tuple(method, fc.array(header, { maxLength: 5 }), body, status, target),
    ([given, headers, body, status, to]) => {
      const init: RequestInit = { method: given, headers, referrer: 'https://a.example/secret' };
      if (body !== undefined) init.body = body;
      const next = followRedirect(init, { status, from: FROM, to: new URL(to) });
      const sent = new Headers(next.headers);
      const isSameOrigin = new URL(to).origin === FROM.origin;
      const becomesGet =
        (status <= 302 && given.toUpperCase() === 'POST') ||
        (status === 303 && !['GET', 'HEAD'].includes(given.toUpperCase()));
      expect(next.method).toBe(becomesGet ? 'GET' : given);
      expect(next.body).toBe(becomesGet ? undefined : body);
      if (becomesGet)
        expect([...sent.keys()].filter((name) => name.startsWith('content-'))).toEqual([]);
      if (!isSameOrigin) {
        expect([...sent.keys()].filter((name) => !/^(?:accept.*|user-agent)$/.test(name))).toEqual(
          [],
        );
        expect(next.referrer).toBe('');
      } else if (!becomesGet) {
        expect([...sent]).toEqual([...new Headers(headers)]);
      }
    },
    { promised: 'secrets', runs: { check: 100, long: 50_000 } },
  );
});
