import { errorCodeOf } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { loadPackage } from './load-package.js';
import { once } from './once.js';

describe('once', () => {
  it('makes a value at the first use, and keeps it', () => {
    let made = 0;
    const value = once(() => {
      made += 1;
      return undefined;
    });
    expect(made).toBe(0);
    expect([value(), value(), made]).toEqual([undefined, undefined, 1]);
  });
});

describe('loadPackage', () => {
  it('throws TOOL_UNAVAILABLE for a package that is missing, and tries again at the next use', () => {
    const names = ['@ethosagent/none', '@ethosagent/none', 'ipaddr.js'];
    const load = loadPackage<typeof import('ipaddr.js')>((require) => require(names.shift() ?? ''));
    const codeOfUse = () => {
      try {
        return load().isValid('::1');
      } catch (error) {
        return errorCodeOf(error);
      }
    };
    expect([codeOfUse(), codeOfUse(), codeOfUse(), codeOfUse()]).toEqual([
      'TOOL_UNAVAILABLE',
      'TOOL_UNAVAILABLE',
      true,
      true,
    ]);
  });
});
