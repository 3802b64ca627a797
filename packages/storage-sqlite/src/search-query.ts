import { EXACT_BONUS, type SearchPhrase, type SearchTerm } from '@ethosagent/policy';
import type { Connection, Statement } from './driver/connection.js';

/** An index of texts, as an FTS5 table. */
export interface SearchIndex {
  table: string;
  /** The columns of a text's words; the other forms of all of them are in the column `stems`. */
  words: readonly string[];
  /** What a place weighs, by column in their order. The facts weigh nothing. */
  weights: readonly number[];
}

/** What is asked of an index. */
export interface IndexQuery {
  terms: readonly SearchTerm[];
  /** What filters, as words of the column `facts`. */
  facts: readonly string[];
  /** SQL that takes the row `f.id` or not, and its values. */
  only?: { where: string; values: readonly number[] };
  limit: number;
  offset: number;
}

/** A row that an index has found. */
export interface IndexHit {
  id: number;
  weight: number;
  matched: number;
  exact: number;
}

const MAX_PREPARED = 64;

/**
 * Prepares the search in an index: what has all the terms first, then what has some. Each is asked for
 * by itself, so that its weight and how many of them a row has are known.
 */
export function prepareIndexSearch(db: Connection, { table, words, weights }: SearchIndex) {
  const score = `-bm25(${[table, ...weights.map((each) => each.toFixed(2))].join(', ')})`;
  const all = `{${[...words, 'stems'].join(' ')}}`;
  const exact = `{${words.join(' ')}}`;
  const prepared = new Map<string, Statement<unknown[], IndexHit>>();

  /** @param branches how many terms each query that gives weights has, and how many give exact places */
  function statement(
    terms: number,
    branches: readonly [each: number, exacts: number],
    where: string,
  ) {
    const [each, exacts] = branches;
    const key = `${terms} ${each} ${exacts} ${where}`;
    const known = prepared.get(key);
    if (known !== undefined) return known;
    if (prepared.size >= MAX_PREPARED) prepared.clear();
    const matching = `FROM ${table} WHERE ${table} MATCH ?`;
    const hits = [
      ...Array<string>(terms / each).fill(`SELECT rowid, ${score}, ${each}, 0 ${matching}`),
      ...Array<string>(exacts).fill(`SELECT rowid, 0.0, 0, 1 ${matching}`),
    ];
    // Of one query alone nothing has to be added up.
    const found =
      hits.length === 1
        ? 'SELECT id, weight, matched, exact FROM hit'
        : `SELECT id, sum(weight) AS weight, sum(matched) AS matched, sum(exact) AS exact
           FROM hit GROUP BY id`;
    const value = `f.weight * f.matched * (1 + ${EXACT_BONUS} * f.exact / ${terms}.0)`;
    const sql = `WITH hit (id, weight, matched, exact) AS (${hits.join(' UNION ALL ')})
      SELECT f.id AS id, f.weight AS weight, f.matched AS matched, f.exact AS exact
      FROM (${found}) AS f ${where}
      ORDER BY f.matched = ${terms} DESC, ${hits.length === 1 ? 'f.weight' : value} DESC, f.id DESC
      LIMIT ? OFFSET ?`;
    const made = db.prepare<unknown[], IndexHit>(sql);
    prepared.set(key, made);
    return made;
  }

  return ({ terms, facts, only, limit, offset }: IndexQuery): IndexHit[] => {
    const inFacts = facts.length === 0 ? '' : `facts : (${facts.join(' AND ')}) AND `;
    const forms = terms.map(({ words: asked, stem }) =>
      stem === undefined ? `${exact} : ${quoted(asked)}` : `${all} : ${quoted([stem])}`,
    );
    const exacts = terms
      .filter(({ words: [word], stem }) => stem !== undefined && stem !== word)
      .map(({ words: asked }) => `${exact} : ${quoted(asked)}`);
    const page = [...(only?.values ?? []), limit, offset];
    const where = only?.where ?? '';
    if (terms.length > 1) {
      // What has all of them is found much faster together, and often fills the page.
      const whole = inFacts + forms.join(' AND ');
      const queries = [whole, ...exacts.map((query) => `${whole} AND ${query}`)];
      const branches = [terms.length, exacts.length] as const;
      const found = statement(terms.length, branches, where).all(...queries, ...page);
      if (found.length === limit) return found;
    }
    const queries = [...forms, ...exacts].map((query) => inFacts + query);
    return statement(terms.length, [1, exacts.length], where).all(...queries, ...page);
  };
}

/** Words hold nothing but letters and digits, so that no text of a caller's is ever an operator. */
function quoted(words: SearchPhrase): string {
  return `"${words.join(' ')}"`;
}
