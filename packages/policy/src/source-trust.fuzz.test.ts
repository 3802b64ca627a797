import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { compileSourceTrust, meetTrustedSources } from './source-trust.js';
import { parseTrustedSource } from './trusted-source.js';

const part = fc.constantFrom(
  'docs',
  'a',
  '..',
  '.',
  '%2e%2e',
  '..%2f',
  '%252e',
  '..;',
  '%5c..',
  '',
  '%',
  'é',
);
const path = fc.array(part, { maxLength: 5 }).map((parts) => `/${parts.join('/')}`);
const host = fc.constantFrom(
  'docs.example',
  'docs.example.evil',
  'evil',
  'docs.example@evil',
  'evil#docs.example',
  'DOCS.example',
  'docs.example:8443',
  'docs.example:443',
  'docs.example\\.evil',
  'docs.example%2eevil',
);
const scheme = fc.constantFrom('https://', 'http://', 'HTTPS://', 'https:/', 'https:\\\\', '//');
const tail = fc.constantFrom('', '?q=1', '#x', '?/docs/', ';x');
const address = fc.tuple(scheme, host, path, tail).map((parts) => parts.join(''));
const trusted = fc.oneof(
  address,
  address.map((text) => `${text}/*`),
  fc.constantFrom('https://docs.example/*', 'https://docs.example/docs/*', 'https://evil/*'),
);
const folder = fc.array(fc.constantFrom('w', 'a', 'b', 'ab'), { minLength: 1, maxLength: 4 });
const filePath = folder.map((parts) => `/${parts.join('/')}`);
const trustedPath = fc.tuple(filePath, fc.constantFrom('', '/**')).map((parts) => parts.join(''));

/**
 * The place that a server serves which first decodes as often as it can, and then resolves `..`.
 */
function placeOf(pathname: string): string[] {
  let text = pathname;
  for (let round = 0; round < 4; round++) {
    try {
      text = decodeURIComponent(text);
    } catch {
      break;
    }
  }
  const out: string[] = [];
  for (const segment of text.split(/[/\\]/)) {
    const name = segment.replace(/;.*$/s, '');
    if (name === '..') out.pop();
    else if (name !== '.' && name !== '') out.push(name);
  }
  return out;
}

describe('trust by source, whatever URLs there are', () => {
  fuzz(
    'covers no page of another origin, and none above the path by any reading',
    fc.tuple(trusted, address),
    ([entry, read]) => {
      if (!compileSourceTrust([entry]).covers({ kind: 'url', url: read })) return;
      const pattern = new URL(entry.replace(/\*+$/, ''));
      const page = new URL(read);
      expect(page.origin).toBe(pattern.origin);
      expect(page.protocol).toBe('https:');
      const above = placeOf(pattern.pathname);
      expect(placeOf(page.pathname).slice(0, above.length)).toEqual(above);
    },
    { runs: { check: 2_000, long: 500_000 } },
  );

  fuzz(
    'takes only what it can say again in one spelling',
    fc.oneof(trusted, trustedPath, fc.string()),
    (entry) => {
      const parsed = parseTrustedSource(entry);
      if (!parsed.ok) return;
      expect(parseTrustedSource(parsed.text)).toEqual(parsed);
    },
    { runs: { check: 1_000, long: 200_000 } },
  );

  fuzz(
    'of two that meet covers exactly what both cover',
    fc.tuple(
      fc.array(fc.oneof(trusted, trustedPath), { maxLength: 3 }),
      fc.array(fc.oneof(trusted, trustedPath), { maxLength: 3 }),
      fc.oneof(
        address.map((url) => ({ kind: 'url' as const, url })),
        filePath.map((real) => ({ kind: 'file' as const, path: real, real })),
      ),
    ),
    ([a, b, read]) => {
      const both = compileSourceTrust(a).covers(read) && compileSourceTrust(b).covers(read);
      expect(compileSourceTrust(meetTrustedSources(a, b)).covers(read)).toBe(both);
    },
    { runs: { check: 2_000, long: 500_000 } },
  );
});
