import { errorText } from '@ethosagent/policy';
import { describe, expect, it } from 'vitest';
import { checkShape } from './check-shape.js';

const failed = (error: unknown) => ({ ok: false, code: 'execution_failed', error });

describe('checkShape', () => {
  it.each([
    ['undefined', undefined, 'returned undefined'],
    ['null', null, 'returned null'],
    ['a number', 7, 'a value of type number'],
    ['a string', 'ok', 'a value of type string'],
    ['an array', [], 'returned an array'],
    ['an empty object', {}, 'a value of type object'],
    ['ok: "yes"', { ok: 'yes', value: 'v' }, 'neither true nor false'],
    ['ok: 1', { ok: 1, value: 'v' }, 'neither true nor false'],
    ['a value that is missing', { ok: true }, 'value is undefined, not a string'],
    ['a value that is a number', { ok: true, value: 5 }, 'a value of type number, not a string'],
    ['a value that is a String object', { ok: true, value: Object('v') }, 'not a string'],
    [
      'a Map in structured',
      { ok: true, value: 'v', structured: { a: new Array(1).fill(new Map()) } },
      'structured.a[0] is an instance of a class',
    ],
    [
      'a getter that throws',
      {
        ok: true,
        get value() {
          throw new Error('gotcha');
        },
      },
      'can not be read: gotcha',
    ],
    [
      'a Proxy that throws',
      new Proxy(
        {},
        {
          has() {
            throw new Error('trap');
          },
        },
      ),
      'can not be read: trap',
    ],
  ])('answers execution_failed for %s', (_name, returned, error) => {
    expect(checkShape(returned)).toEqual({
      ...failed(expect.stringContaining(error)),
      cause: 'TOOL_INVALID',
    });
  });

  it.each([
    ['ok with value only', { ok: true, value: 'v' }, { ok: true, value: 'v' }],
    [
      'structured and cost_usd',
      { ok: true, value: 'v', structured: { a: [1] }, cost_usd: 0.5 },
      { ok: true, value: 'v', structured: { a: [1] }, cost_usd: 0.5 },
    ],
    [
      'a NaN cost and an array as structured, which are dropped',
      { ok: true, value: 'v', structured: [1], cost_usd: Number.NaN },
      { ok: true, value: 'v' },
    ],
    [
      'fields of its own, which are dropped',
      { ok: true, value: 'v', extra: 1 },
      { ok: true, value: 'v' },
    ],
    [
      'an error',
      { ok: false, error: 'e', code: 'STALE_WRITE' },
      { ok: false, error: 'e', code: 'STALE_WRITE' },
    ],
    ['a nonsense code', { ok: false, error: 'e', code: 'toString' }, failed('e')],
    ['no code', { ok: false, error: 'e' }, failed('e')],
    ['no error text', { ok: false }, failed('the tool failed and gave no reason')],
  ])('reads %s', (_name, returned, result) => {
    expect(checkShape(returned)).toEqual(result);
  });

  it('copies structured, so that the tool can not change it any more', () => {
    const structured = { list: [1] };
    const result = checkShape({ ok: true, value: 'v', structured });
    structured.list.push(2);
    expect(result).toEqual({ ok: true, value: 'v', structured: { list: [1] } });
  });

  it.each([
    [false, { ok: true, value: 'v', untrusted: false }],
    [true, { ok: true, value: 'v' }],
    [0, { ok: true, value: 'v' }],
    [null, { ok: true, value: 'v' }],
  ])('takes untrusted: %j for what it is', (untrusted, result) => {
    expect(checkShape({ ok: true, value: 'v', untrusted })).toEqual(result);
  });
});

describe('errorText', () => {
  it.each([
    ['an Error', new Error('broken'), 'broken'],
    ['a string', 'broken', 'broken'],
    ['an empty string', '', 'the tool threw an empty value'],
    ['a number', 7, '7'],
    ['null', null, 'the tool threw null'],
    ['undefined', undefined, 'the tool threw undefined'],
    ['an Error without a message', new Error(''), 'Error'],
    ['an object with a message', { message: 'm' }, 'm'],
    ['an object with a number as message', { message: 1 }, '[object Object]'],
    [
      'an object whose toString throws',
      {
        toString() {
          throw new Error('no');
        },
      },
      'the tool threw a value that can not be described',
    ],
    ['a Symbol', Symbol('s'), 'Symbol(s)'],
    [
      'an object without a prototype',
      Object.create(null),
      'the tool threw a value that can not be described',
    ],
    [
      'a Proxy that throws',
      new Proxy(
        {},
        {
          has() {
            throw new Error('trap');
          },
          get() {
            throw new Error('trap');
          },
        },
      ),
      'the tool threw a value that can not be described',
    ],
  ])('says what %s says', (_name, thrown, text) => {
    expect(errorText(thrown)).toBe(text);
  });
});
