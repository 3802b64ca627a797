import { errorCodeOf, type MemoryChange, type MemoryProvider } from '@ethosagent/types';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fuzz } from './fuzz.js';
import { HOSTILE_IDS, HOSTILE_QUERIES } from './hostile-ids.js';
import { modelOfChange } from './memory-model.js';

/** A memory provider to test. */
export interface MemoryUnderTest {
  memory: MemoryProvider;
  /** Closes the provider. */
  close?: () => void | Promise<void>;
}

const add = (section: string, text: string): MemoryChange => ({ kind: 'add', section, text });

/**
 * Registers tests that a memory provider keeps the contract of `MemoryProvider`: changes of all
 * kinds, refusals that change nothing, versions, revisions, separate scopes and searches. Call it
 * in a test file.
 *
 * @param name the name of the provider, for the names of the tests
 * @param create creates an empty provider that reads the time, in milliseconds, from `clock`
 */
export function memoryConformance(
  name: string,
  create: (options: { clock: () => number }) => MemoryUnderTest | Promise<MemoryUnderTest>,
): void {
  describe(`${name} as a MemoryProvider`, () => {
    let now = 1_700_000_000_000;
    let scopes = 0;
    let subject: MemoryUnderTest;
    let memory: MemoryProvider;

    beforeAll(async () => {
      subject = await create({ clock: () => now });
      memory = subject.memory;
    });
    afterAll(() => subject.close?.());

    /** A scope that no other test uses. */
    const fresh = () => `personality:suite-${scopes++}`;
    const sectionsOf = async (scope: string) => (await memory.read(scope)).sections;
    async function made(...changes: MemoryChange[]): Promise<string> {
      const scope = fresh();
      for (const change of changes) await memory.change(scope, change);
      return scope;
    }
    const codeOf = (call: Promise<unknown>) => call.then(() => 'done', errorCodeOf);

    it('read gives no sections for a memory that there is not', async () => {
      const document = await memory.read(fresh());
      expect(document).toEqual({ sections: [], revision: expect.any(String), sizeChars: 0 });
      expect(await memory.versions(fresh())).toEqual([]);
      expect(await memory.search(fresh(), 'anything')).toEqual([]);
    });

    const AB = [add('A', 'one two'), add('B', 'two three')];
    type Row = [string, MemoryChange[], MemoryChange, [string, string][] | string];
    it.each<Row>([
      ['add makes a section', [], add('A', 'x'), [['A', 'x']]],
      [
        'add appends a paragraph',
        AB,
        add('A', 'x'),
        [
          ['A', 'one two\n\nx'],
          ['B', 'two three'],
        ],
      ],
      [
        'add finds a section in another case',
        AB,
        add(' a ', 'x'),
        [
          ['A', 'one two\n\nx'],
          ['B', 'two three'],
        ],
      ],
      [
        'add puts what has no heading first',
        AB,
        add('', 'x'),
        [
          ['', 'x'],
          ['A', 'one two'],
          ['B', 'two three'],
        ],
      ],
      ['add drops blank lines around a text', [], add('A', '\n\n x \n\n'), [['A', ' x']]],
      ['add keeps lines', [], add('A', '- a\r\n- b\n\n### c\nd'), [['A', '- a\n- b\n\n### c\nd']]],
      [
        'replace replaces a section',
        AB,
        { kind: 'replace', section: 'a', text: 'x' },
        [
          ['A', 'x'],
          ['B', 'two three'],
        ],
      ],
      [
        'replace replaces a place',
        AB,
        { kind: 'replace', match: 'three', text: '$& x' },
        [
          ['A', 'one two'],
          ['B', 'two $& x'],
        ],
      ],
      [
        'replace replaces a place of a section',
        AB,
        { kind: 'replace', section: 'B', match: 'two', text: 'x' },
        [
          ['A', 'one two'],
          ['B', 'x three'],
        ],
      ],
      [
        'replace finds over lines',
        [add('A', 'a\nb')],
        { kind: 'replace', match: 'a\r\nb', text: 'c' },
        [['A', 'c']],
      ],
      [
        'replace keeps a section without text',
        [add('A', 'a')],
        { kind: 'replace', section: 'A', text: '' },
        [['A', '']],
      ],
      [
        'replace refuses two places',
        AB,
        { kind: 'replace', match: 'two', text: 'x' },
        'MEMORY_AMBIGUOUS',
      ],
      [
        'replace refuses places that overlap',
        [add('A', 'aaa')],
        { kind: 'replace', match: 'aa', text: 'x' },
        'MEMORY_AMBIGUOUS',
      ],
      [
        'replace refuses a section that is not there',
        AB,
        { kind: 'replace', section: 'C', text: 'x' },
        'MEMORY_NOT_FOUND',
      ],
      [
        'replace refuses a text that is not there',
        AB,
        { kind: 'replace', match: 'Two', text: 'x' },
        'MEMORY_NOT_FOUND',
      ],
      [
        'replace refuses a text of another section',
        AB,
        { kind: 'replace', section: 'A', match: 'three', text: 'x' },
        'MEMORY_NOT_FOUND',
      ],
      [
        'replace refuses a heading as a match',
        AB,
        { kind: 'replace', match: 'A', text: 'x' },
        'MEMORY_NOT_FOUND',
      ],
      [
        'replace refuses neither section nor match',
        AB,
        { kind: 'replace', text: 'x' },
        'VALUE_INVALID',
      ],
      [
        'replace refuses an empty match',
        AB,
        { kind: 'replace', match: '', text: 'x' },
        'VALUE_INVALID',
      ],
      ['remove removes a section', AB, { kind: 'remove', section: 'A' }, [['B', 'two three']]],
      [
        'remove removes a place',
        AB,
        { kind: 'remove', match: 'one ' },
        [
          ['A', 'two'],
          ['B', 'two three'],
        ],
      ],
      [
        'remove removes what has no heading',
        [add('', 'x'), ...AB],
        { kind: 'remove', section: '' },
        [
          ['A', 'one two'],
          ['B', 'two three'],
        ],
      ],
      ['remove refuses two places', AB, { kind: 'remove', match: 't' }, 'MEMORY_AMBIGUOUS'],
      [
        'remove refuses a section that is not there',
        [],
        { kind: 'remove', section: 'A' },
        'MEMORY_NOT_FOUND',
      ],
      ['a heading of two lines is refused', [], add('A\nB', 'x'), 'VALUE_INVALID'],
      [
        'a heading of 10,000 characters is refused',
        [],
        add('x'.repeat(10_000), 'x'),
        'VALUE_INVALID',
      ],
    ])('%s', async (_, before, change, expected) => {
      const scope = await made(...before);
      const old = await memory.read(scope);
      if (typeof expected === 'string') {
        expect(await codeOf(memory.change(scope, change))).toBe(expected);
        expect(await memory.read(scope)).toEqual(old);
        return;
      }
      const answer = await memory.change(scope, change);
      expect(answer.sections).toEqual(expected.map(([heading, text]) => ({ heading, text })));
      expect(await memory.read(scope)).toEqual(answer);
      const chars = expected.reduce((sum, [a, b]) => sum + a.length + b.length, 0);
      expect(answer.sizeChars).toBe(chars);
      expect(answer.revision).not.toBe(old.revision);
    });

    it('a text far too large is MEMORY_TOO_LARGE, and changes nothing', async () => {
      const scope = await made(add('A', 'x'));
      const huge = 'word '.repeat(2_000_000);
      expect(await codeOf(memory.change(scope, add('A', huge)))).toBe('MEMORY_TOO_LARGE');
      expect(await sectionsOf(scope)).toEqual([{ heading: 'A', text: 'x' }]);
    });

    it('a change that changes nothing keeps the revision and makes no version', async () => {
      const scope = await made(add('A', 'x'));
      const before = await memory.read(scope);
      const versions = await memory.versions(scope);
      expect(await memory.change(scope, { kind: 'replace', section: 'A', text: 'x' })).toEqual(
        before,
      );
      expect(await memory.versions(scope)).toEqual(versions);
    });

    it('expectedRevision lets one of many changes at once through', async () => {
      const scope = await made(add('A', 'x'));
      const { revision: expectedRevision } = await memory.read(scope);
      const codes = await Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          codeOf(memory.change(scope, add('A', `${i}`), { expectedRevision })),
        ),
      );
      expect(codes.sort()).toEqual([...Array(9).fill('MEMORY_CHANGED'), 'done']);
    });

    it('changes at once are all kept', async () => {
      const scope = fresh();
      const texts = Array.from({ length: 30 }, (_, i) => `entry ${i}.`);
      await Promise.all(texts.map((text) => memory.change(scope, add('A', text))));
      const [section] = await sectionsOf(scope);
      expect(section?.text.split('\n\n').sort()).toEqual([...texts].sort());
    });

    it('versions are what was replaced, the newest first, and not endless', async () => {
      const scope = await made(add('A', '0'));
      const revisions: string[] = [];
      for (let i = 1; i <= 60; i++) {
        revisions.unshift((await memory.read(scope)).revision);
        now += 1_000;
        await memory.change(scope, { kind: 'replace', section: 'A', text: `${i}` });
      }
      const versions = await memory.versions(scope);
      expect(versions.length).toBeGreaterThan(0);
      expect(versions.length).toBeLessThan(60);
      expect(versions.map(({ revision }) => revision)).toEqual(revisions.slice(0, versions.length));
      expect(versions[0]).toMatchObject({
        replacedAt: now,
        sections: [{ heading: 'A', text: '59' }],
      });
      expect(await memory.versions(scope, { limit: 2 })).toEqual(versions.slice(0, 2));
    });

    it('what was read is not changed by a later change', async () => {
      const scope = await made(add('A', 'x'));
      const before = await memory.read(scope);
      const copy = structuredClone(before);
      await memory.change(scope, add('A', 'y'));
      expect(before).toEqual(copy);
    });

    it('no scope reaches the memory of another, whatever the ids are', async () => {
      for (const [index, id] of HOSTILE_IDS.entries()) {
        await memory.change(id, add('Mark', `marker${index} word`));
      }
      for (const [index, id] of HOSTILE_IDS.entries()) {
        expect(await sectionsOf(id)).toEqual([{ heading: 'Mark', text: `marker${index} word` }]);
        expect(await memory.search(id, 'word')).toHaveLength(1);
        expect(await memory.search(id, `marker${(index + 1) % HOSTILE_IDS.length}`)).toEqual([]);
        expect(await memory.versions(id)).toHaveLength(1);
      }
    });

    it.each(['\ud800', 'a\udc00'])(
      'the id %j, which no store keeps, is KEY_INVALID',
      async (id) => {
        expect(await codeOf(memory.read(id))).toBe('KEY_INVALID');
        expect(await codeOf(memory.change(id, add('A', 'x')))).toBe('KEY_INVALID');
        expect(await codeOf(memory.search(id, 'x'))).toBe('KEY_INVALID');
        expect(await codeOf(memory.versions(id))).toBe('KEY_INVALID');
      },
    );

    describe('search', () => {
      const find = async (query: string, ...changes: MemoryChange[]) =>
        (await memory.search(await made(...changes), query)).map(({ heading }) => heading);
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
        const scope = await made(
          add('A', `${'before '.repeat(500)}needle ${'after '.repeat(500)}`),
        );
        const [match] = await memory.search(scope, 'needle');
        expect(match?.snippet).toContain('before [needle] after');
        expect(match?.snippet.length).toBeLessThan(500);
      });

      it('holds to its limit, and finds nothing that was removed', async () => {
        const scope = await made(...['A', 'B', 'C'].map((each) => add(each, 'word')));
        expect(await memory.search(scope, 'word', { limit: 2 })).toHaveLength(2);
        await memory.change(scope, { kind: 'remove', section: 'B' });
        await memory.change(scope, { kind: 'replace', section: 'C', text: 'other' });
        expect((await memory.search(scope, 'word')).map(({ heading }) => heading)).toEqual(['A']);
      });

      it.each(HOSTILE_QUERIES)('takes no part of %j for an operator', async (query) => {
        const scope = await made(add('Z', 'nothing that is asked for'));
        expect(await memory.search(scope, query)).toEqual([]);
      });
    });

    describe('whatever is changed', () => {
      const word = fc.constantFrom('tea', 'Tea', 'milk', 'żółć', '茶', '$&', 'a.b', '😀');
      const text = fc.array(word, { maxLength: 4 }).map((words) => words.join(' '));
      const heading = fc.constantFrom('', 'One', 'one', 'Two', 'Three');
      const change = fc.oneof(
        fc.record({ kind: fc.constant('add' as const), section: heading, text }),
        fc.record(
          { kind: fc.constant('replace' as const), section: heading, match: word, text },
          { requiredKeys: ['kind', 'text'] },
        ),
        fc.record(
          { kind: fc.constant('remove' as const), section: heading, match: word },
          { requiredKeys: ['kind'] },
        ),
      );

      fuzz(
        'a memory is what the model makes of it',
        fc.array(change, { maxLength: 12 }),
        async (changes) => {
          const scope = fresh();
          let model: readonly { heading: string; text: string }[] = [];
          for (const each of changes) {
            const next = modelOfChange(model, each);
            const done = await codeOf(memory.change(scope, each));
            expect(done).toBe(typeof next === 'string' ? next : 'done');
            if (typeof next !== 'string') model = next;
            expect(await sectionsOf(scope)).toEqual(model);
          }
        },
        { promised: 'key-value', runs: { check: 12, long: 5_000 } },
      );

      const line = fc.constantFrom(
        '## Forged',
        '# Top',
        '### Deep',
        '##',
        '## ',
        '```',
        '~~~',
        '<!--',
        '-->',
        '<script>',
        '---',
        '===',
        '> ## quoted',
        '- ## listed',
        '    ## code',
        'Under',
        'words',
        '',
        '\\## escaped',
        '\t',
        '## Forged ##',
        '\uFEFF',
        '[a]: <',
        '<pre>',
        '   ## indented',
        '1. one',
        '  ',
      );
      const markdown = fc
        .tuple(fc.array(line, { maxLength: 5 }), fc.constantFrom('\n', '\r\n', '\r'))
        .map(([lines, eol]) => lines.join(eol));

      fuzz(
        'no text makes, hides or changes another section',
        fc.tuple(
          markdown,
          markdown,
          fc.constantFrom<string>('', 'A', 'B', 'New', '## x', 'x #', '`y'),
        ),
        async ([first, second, section]) => {
          const scope = await made(add('', 'start'), add('A', 'one'), add('B', 'two'));
          for (const text of [first, second]) {
            const before = await sectionsOf(scope);
            const code = await codeOf(memory.change(scope, add(section, text)));
            const after = await sectionsOf(scope);
            if (code !== 'done') {
              expect(code).toBe('VALUE_INVALID');
              expect(after).toEqual(before);
              continue;
            }
            const rest = (all: typeof after) => all.filter(({ heading }) => heading !== section);
            expect(rest(after)).toEqual(rest(before));
            const old = before.find(({ heading }) => heading === section)?.text ?? '';
            const now = after.find(({ heading }) => heading === section)?.text ?? '';
            expect(now.startsWith(old)).toBe(true);
            const added = text
              .replace(/\r\n?/g, '\n')
              .replace(/^(?:[ \t]*\n)+/, '')
              .trimEnd();
            expect(now.endsWith(added)).toBe(true);
          }
        },
        { promised: 'key-value', runs: { check: 20, long: 20_000 } },
      );
    });
  });
}
