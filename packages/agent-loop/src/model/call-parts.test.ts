import { fuzz } from '@ethosagent/conformance/fuzz';
import { anyText } from '@ethosagent/test-support';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type IssuedCall, stepCall } from './call-parts.js';

const options = { isTaken: (id: string) => id === 'taken', spareId: () => 'spare' };
const call = (issued: Partial<IssuedCall>) =>
  stepCall({ id: 'id', name: 'tool', input: { a: 1 }, ...issued }, options);

function nested(levels: number): unknown {
  let value: unknown = {};
  for (let level = 1; level < levels; level++) value = { value };
  return value;
}

describe('stepCall', () => {
  it('keeps a plain call as it is', () => {
    expect(call({})).toEqual({ type: 'call', id: 'id', name: 'tool', input: { a: 1 } });
  });

  it.each(['', 'taken', 'a b', 'a"b', 'a\nb', '\u0000', '\ud800', 'a.b:0', 'x'.repeat(41), '💥'])(
    'gives a call with the id %j another one',
    (id) => {
      expect(call({ id })).toMatchObject({ id: 'spare' });
    },
  );

  it.each([
    ['', 'unnamed'],
    ['a b', 'a_b'],
    ['<untrusted>', '_untrusted_'],
    ['x'.repeat(65), 'x'.repeat(64)],
  ])('answers a call of %j, which no tool can be named', (name, plain) => {
    expect(call({ name })).toMatchObject({
      name: plain,
      problem: { code: 'not_available', error: `there is no tool "${plain}"` },
    });
  });

  it.each([
    ['a list', [1]],
    ['a text', 'text'],
    ['null', null],
    ['nothing', undefined],
    ['101 levels', nested(101)],
    ['100,000 levels', nested(100_000)],
  ])('answers a call with %s as arguments', (_name, input) => {
    expect(call({ input })).toMatchObject({ input: {}, problem: { code: 'input_invalid' } });
  });

  it('takes arguments of 100 levels', () => {
    expect(call({ input: nested(100) }).problem).toBeUndefined();
  });

  it.each([
    [{ isUnoffered: true }, 'not_available', 'there is no tool "tool"'],
    [{ unreadable: 'why' }, 'input_invalid', 'the arguments are not what the tool takes: why'],
  ])('says of %j what is wrong', (issued, code, error) => {
    expect(call(issued).problem).toEqual({ code, error });
  });

  it('says which of the tools that the model was told was likely meant', () => {
    const issued = { id: 'a', name: 'todocount', input: {}, isUnoffered: true };
    const of = (offered: string[]) => stepCall(issued, { ...options, offered }).problem?.error;
    expect(of(['todo_list', 'todo_count'])).toBe(
      'there is no tool "todocount"; did you mean "todo_count"?',
    );
    expect(of(['read_file'])).toBe('there is no tool "todocount"; there is read_file');
  });

  fuzz(
    'makes what every provider takes of anything',
    fc.record({
      id: anyText(),
      name: anyText(),
      input: fc.anything(),
    }),
    (issued) => {
      const { id, name, input } = stepCall(issued, options);
      expect(id).toMatch(/^[\w-]{1,40}$/);
      expect(name).toMatch(/^[\w-]{1,64}$/);
      expect(typeof input === 'object' && input !== null && !Array.isArray(input)).toBe(true);
    },
  );
});

describe('a number that JSON can not say again', () => {
  it.each(['{"n":1e999}', '{"n":-1e999}', '{"a":[{"n":1e999}]}'])(
    'in %s is refused, and does not go into the history',
    (json) => {
      const { problem, input } = call({ input: JSON.parse(json) });
      expect(problem?.code).toBe('input_invalid');
      expect(JSON.parse(JSON.stringify(input))).toEqual(input);
    },
  );

  it.each(['{"n":1e308}', '{"n":-0}', '{"a":[1,2.5]}'])('is none of those in %s', (json) => {
    expect(call({ input: JSON.parse(json) }).problem).toBeUndefined();
  });
});
