import { errorCodeOf } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { createDenySet } from './deny-set.js';

describe('createDenySet', () => {
  it('looks up where places lead when it is first asked, and then denies both', () => {
    const asked: string[] = [];
    let target = '/before';
    const set = createDenySet(['/link'], (path) => {
      asked.push(path);
      return target;
    });
    expect(asked).toEqual([]);
    target = '/real';
    expect(set.covers('/real/x')).toBe('/real');
    expect(set.covers('/link/x')).toBe('/link');
    expect(set.covers('/before/x')).toBeUndefined();
    expect(set.isBelow('/')).toBe(true);
    expect(asked).toEqual(['/link']);
  });

  it.each(['relative', '', '/a\0b'])('refuses %j, which would deny nothing, at once', (path) => {
    let code: unknown;
    try {
      createDenySet(['/a', path], () => '/a');
    } catch (error) {
      code = errorCodeOf(error);
    }
    expect(code).toBe('CONFIG_INVALID');
  });

  it('throws where it can not be looked up, and denies nothing less the next time', () => {
    let fails = true;
    const set = createDenySet(['/link'], () => {
      if (fails) throw new Error('no disk');
      return '/real';
    });
    expect(() => set.covers('/real')).toThrow('no disk');
    fails = false;
    expect(set.covers('/real')).toBe('/real');
  });
});
