import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSecretRef, isSecretRefPattern, secretRefMatches } from './secret-refs.js';

describe('secretRefMatches', () => {
  it.each([
    ['STRIPE_KEY', 'STRIPE_KEY', true],
    ['STRIPE_KEY', 'stripe_key', false],
    ['providers/exa/apiKey', 'providers/exa/apiKey', true],
    ['providers/*', 'providers/exa/apiKey', true],
    ['providers/*', 'providers/exa', true],
    ['providers/*', 'providers', false],
    ['providers/*', 'providersx/exa', false],
    ['providers/ex*', 'providers/exa', false],
    ['*', 'anything', false],
    ['/*', 'anything', false],
    ['providers/*', 'providers/../master', false],
    ['providers/*', 'providers//exa', false],
    ['providers/*', 'providers/./exa', false],
    ['providers/*', 'providers/exa\\key', false],
    ['providers/*', 'providers/exa\0', false],
    ['providers/*', 'providers/*', false],
    ['a/../b', 'a/../b', false],
  ])('declared %j, asked %j: %s', (pattern, ref, expected) => {
    expect(secretRefMatches(pattern, ref)).toBe(expected);
  });

  it('covers a ref only when the ref is well-formed and equal to, or below, the declared one', () => {
    const part = fc.constantFrom('a', 'b', '.', '..', '', '*', 'a b', 'é');
    const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
    fc.assert(
      fc.property(path, path, (pattern, ref) => {
        if (!secretRefMatches(pattern, ref)) return;
        expect(isSecretRef(ref)).toBe(true);
        expect(isSecretRefPattern(pattern)).toBe(true);
        expect(ref === pattern || ref.startsWith(pattern.slice(0, -1))).toBe(true);
      }),
    );
  });
});
