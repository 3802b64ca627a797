import { EXACT_BONUS, indexedWords, parseSearchQuery, RANKED_MATCHES } from '@ethosagent/policy';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Connection } from './driver/connection.js';
import { loadDriver } from './driver/load-driver.js';
import { type IndexHit, type IndexQuery, prepareIndexSearch } from './search-query.js';

const INDEX = { table: 'found', words: ['words'], weights: [0, 1, 0.9] };
const ROWS = RANKED_MATCHES * 2 + 500;

const WITHIN = 'CROSS JOIN at AS t ON t.id = f.id WHERE t.moment >= ? AND t.moment < ?';

/** Every row has `many`, most have `some`, in other forms too, and three old ones have `rare`. */
function textOf(row: number): string {
  const words = ['many'.concat(' many'.repeat(row % 4)), 'pad '.repeat(row % 7)];
  if (row % 3 !== 0) words.push(row % 2 === 0 ? 'planned' : 'plan');
  if (row % 500 === 77 && row < 1_500) words.push('rare');
  return words.join(' ');
}

let db: Connection;
let search: (query: IndexQuery) => IndexHit[];
beforeAll(() => {
  db = loadDriver('better-sqlite3').open(':memory:');
  db.exec(`CREATE TABLE at (id INTEGER PRIMARY KEY, moment INTEGER NOT NULL);
    CREATE VIRTUAL TABLE found USING fts5 (
      facts, words, stems, content = '', contentless_delete = 1, tokenize = 'ascii');`);
  const add = db.prepare<unknown[]>(
    'INSERT INTO found (rowid, facts, words, stems) VALUES (?,?,?,?)',
  );
  const addMoment = db.prepare<unknown[]>('INSERT INTO at (id, moment) VALUES (?, ?)');
  db.transaction(() => {
    for (let row = 1; row <= ROWS; row += 1) {
      const { words, stems } = indexedWords(textOf(row));
      add.run(row, `owner${row % 3}`, words, stems);
      // The time of a row says nothing about its id.
      addMoment.run(row, (row * 7) % ROWS);
    }
  })();
  search = prepareIndexSearch(db, INDEX);
});
afterAll(() => db.close());

/** Which rows are searched, in the words of the index and in those of the test. */
interface Scope {
  facts: string[];
  only?: { where: string; values: readonly number[] };
  has: (row: number) => boolean;
}
const SCOPES: [string, Scope][] = [
  ['all rows', { facts: [], has: () => true }],
  ['one owner', { facts: ['owner1'], has: (row) => row % 3 === 1 }],
  [
    'a time',
    {
      facts: [],
      only: { where: WITHIN, values: [100, ROWS - 900] },
      has: (row) => (row * 7) % ROWS >= 100 && (row * 7) % ROWS < ROWS - 900,
    },
  ],
];

/** All rows in the order that is promised, by a query for each word and a sort. */
function inOrder(query: string, { has }: Scope): number[] {
  const words = query.split(' ');
  const weights = words.map((word) => {
    const [term] = parseSearchQuery(word);
    const rows = db
      .prepare<[string], { id: number; weight: number }>(
        'SELECT rowid AS id, -bm25(found, 0, 1, 0.9) AS weight FROM found WHERE found MATCH ?',
      )
      .all(`{words stems} : "${term?.stem}"`);
    return new Map(rows.map(({ id, weight }) => [id, weight]));
  });
  const rows = Array.from({ length: ROWS }, (_, row) => row + 1)
    .filter(has)
    .map((id) => {
      const found = weights.flatMap((of) => of.get(id) ?? []);
      const exact = words.filter((word) => {
        const [term] = parseSearchQuery(word);
        return term?.stem !== word && textOf(id).split(' ').includes(word);
      }).length;
      const weight = found.reduce((sum, each) => sum + each, 0);
      const value = weight * found.length * (1 + (EXACT_BONUS * exact) / words.length);
      return { id, matched: found.length, value };
    })
    .filter(({ matched }) => matched > 0)
    .sort((a, b) => b.id - a.id);
  const ranked = (some: typeof rows, first: typeof rows) => {
    const last = first[RANKED_MATCHES]?.id ?? 0;
    return some.sort(
      (a, b) => Number(b.id > last) - Number(a.id > last) || order(b.value, a.value) || b.id - a.id,
    );
  };
  const whole = rows.filter(({ matched }) => matched === words.length);
  const some = rows.filter(({ matched }) => matched < words.length);
  return [...ranked(whole, [...whole]), ...ranked(some, rows)].map(({ id }) => id);
}

/** Sums of the same weights in another order differ by their last digits. */
const order = (a: number, b: number) => (Math.abs(a - b) < 1e-9 * Math.abs(a + b) ? 0 : a - b);

describe.each(SCOPES)('a search of more rows than are ranked first, of %s', (_name, scope) => {
  it.each([
    'many',
    'plan',
    'planned',
    'many planned',
    'rare many',
    'rare planned many',
    'nothing many',
  ])('gives for "%s" each row once, in the same order whatever the pages', (query) => {
    const terms = parseSearchQuery(query);
    const page = (limit: number, offset: number) => {
      const { facts, only } = scope;
      return search({ terms, facts, ...(only && { only }), limit, offset }).map(({ id }) => id);
    };
    const expected = inOrder(query, scope);
    expect(page(ROWS + 1, 0)).toEqual(expected);
    expect(expected.length).toBeGreaterThan(0);
    const starts = [
      0,
      1,
      3,
      150,
      RANKED_MATCHES - 5,
      RANKED_MATCHES,
      RANKED_MATCHES + 300,
      ROWS - 20,
      ROWS,
    ];
    for (const start of starts) {
      expect(page(20, start), `20 from ${start}`).toEqual(expected.slice(start, start + 20));
    }
  });
});

describe('what a search of many rows finds', () => {
  it('has the old rows with all words, though every newer row has one of them', () => {
    const found = search({ terms: parseSearchQuery('rare many'), facts: [], limit: 4, offset: 0 });
    const [first, second, third, other] = found.map(({ id }) => id);
    expect([first, second, third].sort()).toEqual([1_077, 577, 77]);
    expect(other).toBeGreaterThan(ROWS - RANKED_MATCHES);
  });

  it('is of the newest rows, the best first', () => {
    const found = search({ terms: parseSearchQuery('many'), facts: [], limit: 50, offset: 0 });
    expect(Math.min(...found.map(({ id }) => id))).toBeGreaterThan(ROWS - RANKED_MATCHES);
    // These say it four times.
    expect(found.map(({ id }) => id % 4)).toEqual(Array(50).fill(3));
  });
});
