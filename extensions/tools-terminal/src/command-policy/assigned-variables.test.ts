import { growsLinearly } from '@ethosagent/conformance/fuzz';
import { parse } from 'unbash';
import { describe, expect, it } from 'vitest';
import { assignedIn, joinsSigns, operandOf, pastedInto } from './assigned-variables.js';
import { findEvaluations } from './evaluations.js';
import { UNKNOWN } from './marked-text.js';
import { replaceBrackets } from './shell-word.js';

const upTo = { check: 16_000, nightly: 1_024_000, long: 1_024_000 };

describe('assignedIn', () => {
  it.each([
    ['a=1', ['a']],
    ['a==1, b!=2, c<=3', []],
    ['a = b += c <<= 1', ['a', 'b', 'c']],
    ['++a, b--', ['a', 'b']],
    ['a[i]=1, b[i] ++', ['a', 'b']],
    ['a[b=1]=2', ['a', 'b']],
    ['a[b[0]]=1', ['a', 'b']],
    ['a["]"]=1, b[0]', ['a']],
    ['a[b[0]], c[0]==1', []],
    ['a[b', []],
    ['1a=2', []],
    ['"a"=1, b""c=2, d\\\n=3', ['a', 'bc', 'd']],
    ['$a=1', [UNKNOWN]],
    ['a$(b)=1', []],
    ['a`=1', [UNKNOWN]],
    ['++$a', [UNKNOWN]],
    ['${a:-b}=1', [UNKNOWN]],
    ['${a[b=1]}', ['b']],
    ['${a}==1, $b<=2', []],
  ])('of %s', (expression, names) => {
    expect(assignedIn(expression).toSorted()).toEqual(names);
  });

  growsLinearly(
    'takes linear time for open subscripts',
    (size) => 'a[b'.repeat(size / 3),
    assignedIn,
    { upTo },
  );
  growsLinearly(
    'takes linear time for subscripts that end in one place',
    (size) => `${'a['.repeat(size / 4)}]${' '.repeat(size / 2)}`,
    assignedIn,
    { upTo },
  );
});

describe('findEvaluations', () => {
  growsLinearly(
    'takes linear time for numbers with values',
    (size) => 'x=1;(($x));'.repeat(size / 11),
    (line) => findEvaluations(parse(line), line, true),
    { upTo },
  );
  growsLinearly(
    'takes linear time for formats with values',
    (size) => 'x=%$x;printf $x n;'.repeat(size / 18),
    (line) => findEvaluations(parse(line), line, true),
    { upTo },
  );
});

describe('operandOf', () => {
  it.each([
    [['5', 'b'], 'plain'],
    [['5', '-5'], 'signed'],
    [['+1'], 'signed'],
    [['=1'], 'operator'],
    [['-5', '--5'], 'operator'],
    [['[0]', '5'], 'operator'],
    [['${b}', '${b[0]}'], 'plain'],
    [['${b:-=}'], 'operator'],
    [[], 'plain'],
  ])('of %j', (values, operand) => {
    expect(operandOf(values)).toBe(operand);
  });
});

describe('joinsSigns', () => {
  it.each([
    ['a=$x', false],
    ['a + $x', false],
    ['a+$x', true],
    ['a-"${x}"', true],
  ])('of %s', (text, joins) => {
    expect(pastedInto(text)).toEqual(['x']);
    expect(joinsSigns(text)).toBe(joins);
  });
});

describe('replaceBrackets', () => {
  it.each([
    ['[a-z]x[!b]', '*x*'],
    ['[[]', '*'],
    ['a]b[c', 'a]b[c'],
    ['[a]b[c', '*b[c'],
  ])('of %s', (pattern, replaced) => {
    expect(replaceBrackets(pattern, '*')).toBe(replaced);
  });

  growsLinearly(
    'takes linear time for open brackets',
    (size) => '['.repeat(size),
    (pattern) => replaceBrackets(pattern, '*'),
    { upTo },
  );
});
