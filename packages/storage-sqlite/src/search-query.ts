import { EXACT_BONUS, type SearchPhrase, type SearchTerm } from '@ethosagent/policy';
import type { Connection, Statement } from './driver/connection.js';
import { LIMIT } from './limit.js';

/** A full-text index, as an FTS5 table. */
export interface SearchIndex {
  table: string;
  /**
   * The columns with the words of a text. The other forms of all of them are in the column `stems`.
   */
  words: readonly string[];
  /** The weight of each column, in order. The facts have no weight. */
  weights: readonly number[];
}

/** A query of an index. */
export interface IndexQuery {
  terms: readonly SearchTerm[];
  /** The facts to filter by, as words of the column `facts`. */
  facts: readonly string[];
  /** An SQL condition on the row `f.id`, with its values. */
  only?: { where: string; values: readonly number[] };
  limit: number;
  offset: number;
}

/** A row that a search has found. */
export interface IndexHit {
  id: number;
  weight: number;
  matched: number;
  exact: number;
}

const MAX_PREPARED = 64;

/**
 * Prepares the search in an index. Rows with all terms come first, then rows with some of them.
 * Each term is a query of its own, so that its weight, and the number of a row's terms, are known.
 */
export function prepareIndexSearch(db: Connection, { table, words, weights }: SearchIndex) {
  const score = `-bm25(${[table, ...weights.map((each) => each.toFixed(2))].join(', ')})`;
  const all = `{${[...words, 'stems'].join(' ')}}`;
  const exact = `{${words.join(' ')}}`;
  const prepared = new Map<string, Statement<unknown[], IndexHit>>();

  /**
   * Prepares the statement of a search.
   * @param branches how many terms each query with weights has, and how many queries find exact
   * words
   */
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
    // The result of a single query needs no sum.
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
      ${LIMIT} OFFSET ?`;
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
      // Rows with all terms are found much faster by one query, and often fill the page.
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

/** Quotes words. They contain only letters and digits, so a caller's text can't be an operator. */
function quoted(words: SearchPhrase): string {
  return `"${words.join(' ')}"`;
}
