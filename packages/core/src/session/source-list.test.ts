import { fuzz } from '@ethosagent/conformance/fuzz';
import { canonicalJson } from '@ethosagent/policy';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SourceList, sourceOfCall, sourceOfContent } from './source-list.js';

const source = (n: number) => ({ source: `https://${n}.test/`, tool: 'fetch' });
const listOf = (numbers: readonly number[]) => {
  const list = new SourceList();
  for (const n of numbers) list.add(source(n));
  return list;
};
const texts = (list: SourceList) => list.all.map((each) => canonicalJson(each));

describe('SourceList', () => {
  it('lists the first 50, and stands for all others with one', () => {
    const { all } = listOf([...Array(60).keys()]);
    expect(all.slice(0, 50)).toEqual([...Array(50).keys()].map(source));
    expect(all.slice(50)).toEqual([
      { source: expect.stringMatching(/^sha256:/), tool: '10 others' },
    ]);
  });

  const reads = fc.array(fc.nat(80), { maxLength: 120 });
  fuzz(
    'knows nothing that it was not told, in whatever number and order',
    fc.tuple(reads, reads),
    ([before, later]) => {
      const known = new Set(texts(listOf(before)));
      const isCovered = texts(listOf([...before, ...later])).every((text) => known.has(text));
      return !isCovered || later.every((n) => before.includes(n));
    },
  );

  fuzz('is the same for the same reads', reads, (numbers) =>
    expect(texts(listOf(numbers))).toEqual(texts(listOf(numbers))),
  );
});

describe('sourceOfCall', () => {
  it.each<[unknown, unknown, boolean]>([
    [{ url: 'https://a.test/', page: 1 }, { url: 'https://a.test/', page: 2 }, true],
    [{ id: 1 }, { id: 2 }, false],
    [{ id: 1 }, { id: 1 }, true],
    [{}, undefined, true],
    [{}, { url: '' }, false],
    [{ id: 'x'.repeat(5_000) }, { id: `${'x'.repeat(5_000)}y` }, false],
    [
      { url: `https://a.test/${'x'.repeat(5_000)}` },
      { url: `https://a.test/${'x'.repeat(5_001)}` },
      false,
    ],
  ])('%# tells one source from another', (one, other, isSame) => {
    const same = canonicalJson(sourceOfCall('t', one)) === canonicalJson(sourceOfCall('t', other));
    expect(same).toBe(isSame);
  });

  it('is short', () => {
    expect(sourceOfCall('t', { id: 'x'.repeat(100_000) }).source.length).toBeLessThan(1_100);
  });
});

describe('sourceOfContent', () => {
  it('tells one content from another', () => {
    expect(sourceOfContent('a message', 'a')).not.toBe(sourceOfContent('a message', 'b'));
    expect(sourceOfContent('a message', 'a')).toBe(sourceOfContent('a message', 'a'));
  });
});
