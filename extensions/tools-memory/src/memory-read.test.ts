import { createInMemoryMemory } from '@ethosagent/core';
import { errorOf, textOf } from '@ethosagent/plugin-sdk/testing';
import { inCheck, tries } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { createMemoryWorld, MEMORY_KINDS, type MemoryKind } from './fixtures/memory-world.js';

const OWN = 'personality:researcher';

async function filled(kind: MemoryKind = 'in memory', settings = {}) {
  const world = createMemoryWorld({ kind, settings: { memory_read: settings } });
  for (const [section, text] of [
    ['Tastes', 'Likes tea.'],
    ['Work', 'Compilers, in Zürich.'],
    ['Tastes', 'No sugar.'],
  ] as const) {
    await world.memory.change(OWN, { kind: 'add', section, text });
  }
  return world;
}

describe.each(inCheck(MEMORY_KINDS, (kind) => kind !== 'SQLite'))(
  'memory_read, kept %s',
  (kind) => {
    it('shows the whole memory', async () => {
      const world = await filled(kind);
      const result = await world.run('memory_read', {});
      expect(textOf(result)).toBe(
        '## Tastes\n\nLikes tea.\n\nNo sugar.\n\n## Work\n\nCompilers, in Zürich.',
      );
      const { revision } = await world.memory.read(OWN);
      expect(result).toMatchObject({
        structured: {
          scope: 'personality',
          revision,
          sizeChars: 52,
          sections: [
            { heading: 'Tastes', sizeChars: 21 },
            { heading: 'Work', sizeChars: 21 },
          ],
        },
      });
    });

    it('shows one section', async () => {
      const world = await filled(kind);
      expect(textOf(await world.run('memory_read', { section: '## work' }))).toBe(
        '## Work\n\nCompilers, in Zürich.',
      );
    });

    it('searches', async () => {
      const world = await filled(kind);
      expect(textOf(await world.run('memory_read', { query: 'zurich' }))).toBe(
        '## Work\n\nCompilers, in Zürich.',
      );
      expect(textOf(await world.run('memory_read', { query: 'coffee' }))).toMatch(
        /^No section of the personality memory has a word of "coffee"/,
      );
    });

    it('lists earlier versions, and shows one', async () => {
      const world = await filled(kind);
      const listed = textOf(await world.run('memory_read', { versions: true }));
      expect(listed).toMatch(
        /^Earlier versions of the personality memory:\n- \S+: 2 sections, until \d{4}-\d\d-\d\dT\d\d:\d\dZ\n- \S+: 1 section,/,
      );
      const [newest] = await world.memory.versions(OWN);
      const revision = newest?.revision;
      expect(textOf(await world.run('memory_read', { revision, section: 'Tastes' }))).toBe(
        '## Tastes\n\nLikes tea.',
      );
      expect(errorOf(await world.run('memory_read', { revision: 'none' }))).toMatch(
        /no version "none"/,
      );
    });

    it('says that a memory is empty', async () => {
      const world = createMemoryWorld({ kind });
      expect(textOf(await world.run('memory_read', {}))).toBe('The personality memory is empty.');
      expect(textOf(await world.run('memory_read', { versions: true }))).toMatch(/no earlier/);
      expect(errorOf(await world.run('memory_read', { section: 'A' }))).toBe(
        'The memory is empty.',
      );
    });
  },
);

describe('memory_read of another', () => {
  it('shows nothing of it', async () => {
    const world = await filled();
    for (const ctx of [
      { personalityId: 'other' },
      { memoryScopeId: 'researcher' },
      { memoryScope: 'global' as const },
      { personalityId: 'researcher:' },
    ]) {
      expect(textOf(await world.run('memory_read', {}, ctx))).toMatch(/is empty/);
    }
  });
});

describe('memory_read refuses', () => {
  const rows: [what: string, args: object, code: string, error: RegExp][] = [
    ['an unknown argument', { heading: 'x' }, 'input_invalid', /heading/],
    ['an unknown scope', { scope: 'session' }, 'input_invalid', /scope/],
    ['an empty query', { query: '  ' }, 'input_invalid', /query/],
    ['query and section', { query: 'a', section: 'b' }, 'input_invalid', /query alone/],
    ['offset without section', { offset: 5 }, 'input_invalid', /with section only/],
    ['versions and section', { versions: true, section: 'a' }, 'input_invalid', /alone/],
    ['an offset after the end', { section: 'Work', offset: 500 }, 'input_invalid', /30 characters/],
    ['no such section', { section: 'Taste' }, 'execution_failed', /Nearest: "Tastes", "Work"/],
    ['no such team', { scope: 'team' }, 'execution_failed', /no team memory/],
  ];
  it.each(rows)('%s', async (_what, args, code, error) => {
    const world = await filled();
    const result = await world.run('memory_read', args);
    expect(errorOf(result)).toMatch(error);
    expect(result).toMatchObject({ code });
  });
});

describe('memory_read of a large memory', () => {
  it('shows the headings, and parts of a section one after the other', async () => {
    const memory = createInMemoryMemory({ maxSectionChars: 1e9, maxDocumentChars: 1e9 });
    const world = createMemoryWorld({ memory, settings: { memory_read: { max_chars: 1_000 } } });
    const paragraphs = Array.from({ length: 100 }, (_, at) => `Paragraph ${at} says 😀 this.`);
    const text = paragraphs.join('\n\n');
    await memory.change(OWN, { kind: 'add', section: '', text: 'Before all.' });
    await memory.change(OWN, { kind: 'add', section: 'Long', text });
    expect(textOf(await world.run('memory_read', {}))).toBe(
      [
        `2,803 characters in 2 sections, too much to show at once. Ask for a section, or search with query.`,
        '- (untitled) (11 characters): Before all.',
        '- Long (2,788 characters): Paragraph 0 says 😀 this. Paragraph 1 says 😀 this. Paragraph 2 says 😀 this. P…',
      ].join('\n'),
    );
    expect(textOf(await world.run('memory_read', { section: '(untitled)' }))).toBe('Before all.');
    let offset = 0;
    let read = '';
    for (let page = 0; page < 10; page += 1) {
      const part = textOf(await world.run('memory_read', { section: 'long', offset }));
      const [, shown, next] =
        /^([\s\S]*)\n\[characters \d+ to \d+ of \d+(?:; read on with offset (\d+))?\]$/.exec(
          part,
        ) ?? [];
      read += shown;
      if (next === undefined) break;
      offset = Number(next);
    }
    expect(read).toBe(`## Long\n\n${text}`);
  });

  it('shows the notes of a query, the best first, as far as there is room', async () => {
    const memory = createInMemoryMemory({ maxSectionChars: 1e9, maxDocumentChars: 1e9 });
    const world = createMemoryWorld({ memory, settings: { memory_read: { max_chars: 400 } } });
    for (let at = 0; at < 60; at += 1) {
      const notes = Array.from({ length: 20 }, (_, n) => `Service ${at} has worker ${n}.`);
      notes.push(`Deployments of the service number${at} run on port ${8_000 + at}.`);
      await memory.change(OWN, { kind: 'add', section: `Area ${at}`, text: notes.join('\n\n') });
    }
    const result = await world.run('memory_read', {
      query: 'On which port do the deployed services run, number17?',
    });
    const lines = textOf(result).split('\n');
    expect(lines.slice(0, 3)).toEqual([
      '## Area 17',
      '',
      'Deployments of the service number17 run on port 8017.',
    ]);
    expect(textOf(result)).toMatch(/\[[\d,]+ more notes with words of the query; [^\]]+\]$/);
    expect(textOf(result).length).toBeLessThan(600);
    expect(result).toMatchObject({ structured: { matches: expect.any(Array) } });
  });

  it.each(inCheck([1, 999, 100_000], (budget) => budget === 999))(
    'stays within a budget of %i characters',
    async (budget) => {
      const memory = createInMemoryMemory({ maxSectionChars: 1e9, maxDocumentChars: 1e9 });
      const world = createMemoryWorld({ memory });
      for (let at = 0; at < 12; at += 1) {
        await memory.change(OWN, {
          kind: 'add',
          section: `Heading ${at}`,
          text: '😀 '.repeat(tries({ check: 3_000, long: 20_000 })),
        });
      }
      for (const args of [{}, { section: 'Heading 7' }, { query: '😀' }]) {
        const result = await world.run('memory_read', args, { resultBudgetChars: budget });
        expect(textOf(result).length).toBeLessThan(Math.max(budget, 10_000) + 5_000);
        expect(textOf(result).isWellFormed()).toBe(true);
      }
    },
  );
});
