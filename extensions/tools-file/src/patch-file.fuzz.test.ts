import { readdirSync } from 'node:fs';
import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { applyHunks } from './apply-hunks.js';
import { createFileWorld } from './fixtures/file-world.js';

const piece = fc.string({
  unit: fc.constantFrom('a', 'b', ' ', '\n', '\r\n', 'é', '😀', '$&'),
  maxLength: 12,
});
const hunk = fc.record({ search: piece, replace: piece, replace_all: fc.boolean() });
const path = fc
  .array(
    fc.constantFrom(
      'a.txt',
      'sub',
      '..',
      '.',
      '',
      'outside',
      'secret.txt',
      '-',
      '\0',
      '\ud800',
      'é',
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((parts) => parts.join('/'));

describe('patch_file, whatever path and hunks', () => {
  fuzz(
    'writes the patched text in the same encoding, or leaves the file as it is; nothing else is touched',
    fc.record({
      text: piece,
      bom: fc.boolean(),
      path: fc.oneof(fc.constant('a.txt'), path),
      hunks: fc.array(hunk, { minLength: 1, maxLength: 2 }),
    }),
    async ({ text, bom, path, hunks }) => {
      const world = createFileWorld();
      const mark = bom ? '\ufeff' : '';
      world.put('a.txt', mark + text);
      world.put('../outside/secret.txt', text);
      const result = await world.run('patch_file', { path, hunks });
      expect(world.get('../outside/secret.txt')).toBe(text);
      expect(readdirSync(world.dir)).toEqual(['a.txt']);
      expect(readdirSync(world.outside)).toEqual(['secret.txt']);
      const outcome = applyHunks(text, hunks);
      expect(world.get('a.txt')).toBe(mark + (result.ok && outcome.ok ? outcome.text : text));
      if (path === 'a.txt') expect(result.ok).toBe(outcome.ok);
    },
    { promised: 'reach', runs: { check: 30, long: 10_000 } },
  );
});
