import { fuzz, growsLinearly } from '@ethosagent/conformance/fuzz';
import { depthOf } from '@ethosagent/policy';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, jsonDepth, readMessage } from './json-message.js';
import { LineSplitter } from './line-splitter.js';
import { TokenBucket } from './token-bucket.js';

describe('readMessage', () => {
  it.each([
    ['nothing', '', 'no JSON'],
    ['a text', '"x"', 'no JSON-RPC message'],
    ['a batch', '[]', 'no JSON-RPC message'],
    ['another version', '{"jsonrpc":"1.0","id":1,"result":{}}', 'no JSON-RPC message'],
    ['brackets without end', '['.repeat(1_000_000), 'nested deeper'],
    ['deep arguments', `{"jsonrpc":"2.0","method":"x","params":{"a":${'['.repeat(101)}`, 'deeper'],
  ])('refuses %s', (_name, text, problem) => {
    const read = readMessage(text);
    expect(read.ok ? 'read' : read.problem).toContain(problem);
  });

  it('reads a message with brackets and quotes in its texts', () => {
    const result = { text: '[[[["\\"{{{{\\\\"'.repeat(100) };
    const read = readMessage(JSON.stringify({ jsonrpc: '2.0', id: 1, result }));
    expect(read).toMatchObject({ ok: true, message: { result } });
  });

  fuzz(
    'says how deep JSON nests, and never throws',
    fc.tuple(fc.jsonValue(), fc.string()),
    ([value, text]) => {
      expect(jsonDepth(JSON.stringify(value))).toBe(depthOf(value, 1_000));
      expect(typeof readMessage(text).ok).toBe('boolean');
    },
  );

  growsLinearly(
    'takes linear time',
    (size) => '"\\'.repeat(size),
    (text) => jsonDepth(text),
  );
});

describe('canonicalJson', () => {
  fuzz('is the same for the same value, whatever the order of keys', fc.jsonValue(), (value) => {
    const text = canonicalJson(value);
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    const turned = JSON.parse(text, (_key, item) =>
      typeof item === 'object' && item !== null && !Array.isArray(item)
        ? Object.fromEntries(Object.entries(item).reverse())
        : item,
    );
    expect(canonicalJson(turned)).toBe(text);
  });
});

describe('LineSplitter', () => {
  fuzz(
    'gives the lines, however they come',
    fc.array(fc.stringMatching(/^[a\n]{0,9}$/)),
    (pieces) => {
      const splitter = new LineSplitter(1_000);
      const lines = pieces.flatMap((piece) => splitter.push(piece) ?? ['too long']);
      expect(lines).toEqual(pieces.join('').split('\n').slice(0, -1));
    },
  );

  it('gives up on a line that is too long', () => {
    const splitter = new LineSplitter(10);
    expect(splitter.push('123456789\n12345')).toEqual(['123456789']);
    expect(splitter.push('123456')).toBeNull();
  });
});

describe('TokenBucket', () => {
  it('lets a burst through, and makes wait after it', () => {
    let now = 0;
    const bucket = new TokenBucket(10, 5, () => now);
    expect([1, 1, 1, 1, 1, 1, 1].map((count) => bucket.take(count))).toEqual([
      0, 0, 0, 0, 0, 100, 200,
    ]);
    now = 1_000;
    expect(bucket.take(1)).toBe(0);
  });
});
