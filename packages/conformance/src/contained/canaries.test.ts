import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuzz } from '../fuzz.js';
import { type Canary, CanaryFinder } from './canaries.js';

const VALUE = 'sk+1f0e77aa-93ac-4c1d-8b2e-5d6f7a8b9c0d/é"x=';
const canary = (value: string, isRandom = true): Canary => ({
  value,
  what: 'a value',
  promised: 'secrets',
  isRandom,
});
const isFound = (text: string, one = canary(VALUE)) =>
  new CanaryFinder().find(text, [one]).length > 0;

const DRESSED: Array<[string, (value: string) => string]> = [
  ['as it is', (value) => value],
  ['in upper case', (value) => value.toUpperCase()],
  ['as JSON', JSON.stringify],
  [
    'with \\u escapes',
    (value) =>
      value.replaceAll(/[^a-z]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
  ],
  ['percent-encoded', encodeURIComponent],
  ['percent-encoded twice', (value) => encodeURIComponent(encodeURIComponent(value))],
  [
    'percent-encoded to the last character',
    (value) => Buffer.from(value).toString('hex').replaceAll(/../g, '%$&'),
  ],
  ['as base64', (value) => Buffer.from(value).toString('base64')],
  ['as base64url', (value) => Buffer.from(value).toString('base64url')],
  ['as base64 of a longer text', (value) => Buffer.from(`ab${value}cd`).toString('base64')],
  ['as base64 of base64', (value) => btoa(Buffer.from(value).toString('base64'))],
  ['as base64 of UTF-16', (value) => Buffer.from(value, 'utf16le').toString('base64')],
  ['as hex', (value) => Buffer.from(value).toString('hex').toUpperCase()],
  ['as codes', (value) => [...Buffer.from(value)].join(', ')],
  ['backwards', (value) => [...value].reverse().join('')],
  ['letter by letter', (value) => [...value].join('\n')],
  ['in lines', (value) => value.replaceAll(/.{10}/g, '$&\r\n  ')],
  ['except for its begin', (value) => value.slice(20)],
];

describe('CanaryFinder.find', () => {
  it.each(DRESSED)('finds a value %s', (_, dress) => {
    expect(isFound(`Honest text. ${dress(VALUE)} More of it.`)).toBe(true);
  });

  it.each([
    ['', canary(VALUE)],
    ['sk 1f0e 93ac 4c1d 8b2e', canary(VALUE)],
    [VALUE.replaceAll(/\d/g, '0'), canary(VALUE)],
    ['a test and a secret', canary('test-secret-value', false)],
  ])('finds nothing in %j', (text, one) => {
    expect(isFound(text, one)).toBe(false);
  });

  it('finds a short value of an author', () => {
    expect(isFound('it is hunter2.', canary('hunter2', false))).toBe(true);
  });

  fuzz(
    'finds a value in any text, however it is dressed',
    fc.tuple(
      fc.uuid().map((id) => `${id}/${id}=`),
      fc.string(),
      fc.string(),
      fc.constantFrom(...DRESSED),
    ),
    ([value, before, after, [, dress]]) =>
      isFound(`${before} ${dress(value)} ${after}`, canary(value)),
    { promised: 'secrets' },
  );
});
