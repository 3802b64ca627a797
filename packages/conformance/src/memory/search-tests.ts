import type { MemoryChange } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../code-of.js';
import { HOSTILE_QUERIES } from '../hostile-ids.js';
import { add, type MemoryWorld } from './memory-world.js';

/** Which query finds which section, and what comes first. */
export function searchTests(w: MemoryWorld): void {
  describe('search', () => {
    const find = async (query: string, ...changes: MemoryChange[]) =>
      (await w.memory.search(await w.made(...changes), query)).map(({ heading }) => heading);
    const tastes = add('Tastes', 'Coffee black. The café in Łódź; max_tokens = 100.');
    const work = add('Work hours', 'Nine to five, coffee at ten.');
    it.each<[string, string[]]>([
      ['coffee', ['Tastes', 'Work hours']],
      ['the hour of working', ['Work hours']],
      ['"hour"', []],
      ['cafe', ['Tastes']],
      ['CAFÉ', ['Tastes']],
      ['hours', ['Work hours']],
      ['"coffee black"', ['Tastes']],
      ['"black coffee"', []],
      ['max_tokens', ['Tastes']],
      ['tokens_max', []],
      ['coff', []],
      ['ten elephants', ['Work hours']],
      ['elephants', []],
    ])('finds by %j %j', async (query, expected) => {
      expect((await find(query, tastes, work)).sort()).toEqual(expected);
    });

    it('puts a section whose heading has the word before one that has it often', async () => {
      const found = await find('tea', add('Drinks', 'tea and tea again'), add('Tea', 'green'));
      expect(found).toEqual(['Tea', 'Drinks']);
    });

    it('puts a section with all the words before one that has some of them often', async () => {
      const changes = [add('A', 'tea, tea and tea'), add('B', 'a cup of tea for each of us')];
      expect(await find('cup of tea', ...changes)).toEqual(['B', 'A']);
    });

    it('marks what was found in a part of the text', async () => {
      const scope = await w.made(
        add('A', `${'before '.repeat(500)}needle ${'after '.repeat(500)}`),
      );
      const [match] = await w.memory.search(scope, 'needle');
      expect(match?.snippet).toContain('before [needle] after');
      expect(match?.snippet.length).toBeLessThan(500);
    });

    it('holds to its limit, and finds nothing that was removed', async () => {
      const scope = await w.made(...['A', 'B', 'C'].map((each) => add(each, 'word')));
      expect(await w.memory.search(scope, 'word', { limit: 2 })).toHaveLength(2);
      await w.memory.change(scope, { kind: 'remove', section: 'B' });
      await w.memory.change(scope, { kind: 'replace', section: 'C', text: 'other' });
      expect((await w.memory.search(scope, 'word')).map(({ heading }) => heading)).toEqual(['A']);
    });

    it.each([undefined, null, 7, ['x']])('a query that is %j is VALUE_INVALID', async (query) => {
      const scope = await w.made(add('Z', 'x'));
      const found = Reflect.apply(w.memory.search, w.memory, [scope, query]);
      expect(await codeOf(found)).toBe('VALUE_INVALID');
    });

    it.each(HOSTILE_QUERIES)('takes no part of %j for an operator', async (query) => {
      const scope = await w.made(add('Z', 'nothing that is asked for'));
      expect(await w.memory.search(scope, query)).toEqual([]);
    });
  });
}
