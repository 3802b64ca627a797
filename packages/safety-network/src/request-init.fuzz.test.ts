import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { toNetworkError } from './denials.js';
import { checkInit } from './request-init.js';

const FRAMING =
  'connection expect host http2-settings keep-alive te trailer transfer-encoding upgrade proxy-authorization proxy-connection'.split(
    ' ',
  );
const mixCase = (text: string) =>
  fc
    .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
    .map((upper) =>
      Array.from(text, (character, at) => (upper[at] ? character.toUpperCase() : character)).join(
        '',
      ),
    );
const headerName = fc.oneof(
  fc.constantFrom(...FRAMING).chain(mixCase),
  fc.constantFrom(
    'accept',
    'x-a',
    'authorization',
    'hosts',
    'upgrades',
    'x-host',
    '',
    'a b',
    'é',
    'a\n',
    'host\n',
    'host ',
  ),
);
const key = fc.constantFrom(
  ...[
    'method',
    'body',
    'signal',
    'dispatcher',
    'agent',
    'client',
    'proxy',
    'socketPath',
    'redirect',
    'window',
  ],
  ...[
    '__proto__',
    'constructor',
    'origin',
    'maxRedirections',
    'headersTimeout',
    'keepalive',
    'priority',
  ],
);
const method = fc.oneof(
  fc.constantFrom('CONNECT', 'TRACE', 'TRACK', 'GET', 'POST').chain(mixCase),
  fc.anything(),
);

describe('checkInit, whatever init is', () => {
  fuzz(
    'passes known keys alone, and refuses by code what steers the connection',
    fc.record({
      extra: fc.array(fc.tuple(key, fc.oneof(fc.constant('x'), fc.anything())), { maxLength: 4 }),
      headers: fc.array(fc.tuple(headerName, fc.constantFrom('v', 'SECRET', 'v\n', 'é', '\0')), {
        maxLength: 4,
      }),
      method: fc.option(method, { nil: undefined }),
    }),
    ({ extra, headers, method }) => {
      const given: unknown = { ...Object.fromEntries(extra), headers, method };
      let checked: unknown;
      try {
        checked = Reflect.apply(checkInit, undefined, [given]);
      } catch (error) {
        // The conversion of the method to a string is code of the caller.
        if (error instanceof TypeError && typeof method === 'object') return;
        expect(error).toMatchObject({
          code: expect.stringMatching(/^(?:HOST_NOT_ALLOWED|NETWORK_FAILED)$/),
        });
        expect(String(error)).not.toContain('SECRET');
        return;
      }
      const passed = new Headers(Reflect.get(Object(checked), 'headers'));
      expect(FRAMING.filter((name) => passed.has(name))).toEqual([]);
      expect(headers.some(([name]) => FRAMING.includes(name.toLowerCase()))).toBe(false);
      for (const name of [
        'dispatcher',
        'agent',
        'client',
        'proxy',
        'socketPath',
        'redirect',
        'window',
        'origin',
      ]) {
        expect(Object.hasOwn(Object(checked), name), name).toBe(false);
      }
      expect(String(Reflect.get(Object(checked), 'method') ?? '')).not.toMatch(
        /^(?:CONNECT|TRACE|TRACK)$/i,
      );
    },
    { promised: 'network', runs: { check: 100, long: 50_000 } },
  );
});

describe('toNetworkError, whatever failed', () => {
  fuzz(
    'says the host and at most a code, and follows causes to no end',
    fc.record({
      code: fc.oneof(fc.constantFrom('ECONNREFUSED', 'UND_ERR_SOCKET'), fc.string(), fc.anything()),
      depth: fc.nat(3),
      isCircle: fc.boolean(),
    }),
    ({ code, depth, isCircle }) => {
      const innermost = Object.assign(new Error('SECRET'), { code });
      let error: Error = innermost;
      for (let level = 0; level < depth; level += 1) error = new Error('SECRET', { cause: error });
      if (isCircle) innermost.cause = error;
      const { message } = toNetworkError('a.example', error);
      const isCode = typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,63}$/.test(code);
      expect(message).toBe(
        code === 'UND_ERR_CONNECT_TIMEOUT'
          ? 'NETWORK_TIMEOUT: a.example did not accept the connection in time'
          : `NETWORK_FAILED: the request to a.example failed${isCode ? ` (${code})` : ''}`,
      );
    },
    { promised: 'secrets' },
  );
});
