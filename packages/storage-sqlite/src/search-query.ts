import {
  EXACT_BONUS,
  RANKED_MATCHES,
  type SearchPhrase,
  type SearchTerm,
} from '@ethosagent/policy';
import type { Connection } from './driver/connection.js';
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

/** Below the id of every row. */
const NO_ROW = Number.MIN_SAFE_INTEGER;

/** Which rows are ranked: those with all of the terms, or those with only some. */
interface Ranking {
  /** The query that finds all of them. */
  matching: string;
  terms: number;
  /** The queries that give a weight to a row: one for all of the terms, or one for each. */
  weighted: readonly string[];
  /** The queries that find words exactly as in the search. */
  exacts: readonly string[];
}

/**
 * Prepares the search in an index. Rows with all terms come first, then rows with some of them. For
 * these, each term is a query of its own, so that its weight, and the number of a row's terms, are
 * known. SQLite needs 0.4 µs to rank a row, and the process does nothing else meanwhile, so of very
 * many rows only the newest are ranked with others.
 */
export function prepareIndexSearch(db: Connection, { table, words, weights }: SearchIndex) {
  const score = `-bm25(${[table, ...weights.map((each) => each.toFixed(2))].join(', ')})`;
  const all = `{${[...words, 'stems'].join(' ')}}`;
  const exact = `{${words.join(' ')}}`;
  const pages = kept((sql) => db.prepare<unknown[], IndexHit>(sql));
  const numbers = kept((sql) => db.prepareColumn<unknown[], number>(sql));

  function rankingSql({ terms, weighted, exacts }: Ranking, where: string): string {
    const each = terms / weighted.length;
    // The index only begins at a row if the number is an integer, and drivers bind a float.
    const matching = `FROM ${table} WHERE ${table} MATCH ? AND rowid > CAST(? AS INTEGER)`;
    const hits = [
      ...weighted.map(() => `SELECT rowid, ${score}, ${each}, 0 ${matching}`),
      ...exacts.map(() => `SELECT rowid, 0.0, 0, 1 ${matching}`),
    ];
    // The result of a single query needs no sum.
    const found =
      hits.length === 1
        ? 'SELECT id, weight, matched, exact FROM hit'
        : `SELECT id, sum(weight) AS weight, sum(matched) AS matched, sum(exact) AS exact
           FROM hit GROUP BY id ${each < terms ? `HAVING sum(matched) < ${terms}` : ''}`;
    const value = `f.weight * f.matched * (1 + ${EXACT_BONUS} * f.exact / ${terms}.0)`;
    return `WITH hit (id, weight, matched, exact) AS (${hits.join(' UNION ALL ')})
      SELECT f.id AS id, f.weight AS weight, f.matched AS matched, f.exact AS exact
      FROM (${found}) AS f ${where}
      ORDER BY f.id > ? DESC, ${hits.length === 1 ? 'f.weight' : value} DESC, f.id DESC
      ${LIMIT} OFFSET ?`;
  }

  const rowsOf = (where: string) =>
    `FROM (SELECT rowid AS id FROM ${table} WHERE ${table} MATCH ?) AS f ${where}`;

  function countRows(matching: string, only: IndexQuery['only']): number {
    const { where = '', values = [] } = only ?? {};
    return numbers(`SELECT count(*) ${rowsOf(where)}`).get(matching, ...values) ?? 0;
  }

  /** The newest row that comes after those that are ranked first. */
  function lastRow(matching: string, only: IndexQuery['only']): number {
    const { where = '', values = [] } = only ?? {};
    const sql = `SELECT f.id ${rowsOf(where)} ORDER BY f.id DESC ${LIMIT} OFFSET ?`;
    return numbers(sql).get(matching, ...values, 1, RANKED_MATCHES) ?? NO_ROW;
  }

  function pageOf(ranking: Ranking, { only, limit, offset }: IndexQuery): IndexHit[] {
    const last = lastRow(ranking.matching, only);
    const page = pages(rankingSql(ranking, only?.where ?? ''));
    const rowsAfter = (first: number) => {
      const queries = [...ranking.weighted, ...ranking.exacts].flatMap((each) => [each, first]);
      return page.all(...queries, ...(only?.values ?? []), last, limit, offset);
    };
    const found = rowsAfter(last);
    return found.length === limit || last === NO_ROW ? found : rowsAfter(NO_ROW);
  }

  return (query: IndexQuery): IndexHit[] => {
    const { facts, limit, offset } = query;
    const inFacts = facts.length === 0 ? '' : `facts : (${facts.join(' AND ')}) AND `;
    const terms = query.terms.length;
    const forms = query.terms.map(({ words: asked, stem }) =>
      stem === undefined ? `${exact} : ${quoted(asked)}` : `${all} : ${quoted([stem])}`,
    );
    const exacts = query.terms
      .filter(({ words: [word], stem }) => stem !== undefined && stem !== word)
      .map(({ words: asked }) => `${exact} : ${quoted(asked)}`);
    const whole = inFacts + forms.join(' AND ');
    const withAll = {
      matching: whole,
      terms,
      weighted: [whole],
      exacts: exacts.map((each) => `${whole} AND ${each}`),
    };
    const found = pageOf(withAll, query);
    if (terms === 1 || found.length === limit) return found;
    // Rows with all terms that came on earlier pages.
    const before = found.length > 0 || offset === 0 ? offset : countRows(whole, query.only);
    const withSome = {
      matching: `${inFacts}(${forms.join(' OR ')})`,
      terms,
      weighted: forms.map((each) => inFacts + each),
      exacts: exacts.map((each) => inFacts + each),
    };
    const page = { ...query, limit: limit - found.length, offset: offset - before };
    return [...found, ...pageOf(withSome, page)];
  };
}

/** Keeps what is made of an SQL statement. */
function kept<T>(prepare: (sql: string) => T): (sql: string) => T {
  const prepared = new Map<string, T>();
  return (sql) => {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    if (prepared.size >= MAX_PREPARED) prepared.clear();
    const made = prepare(sql);
    prepared.set(sql, made);
    return made;
  };
}

/** Quotes words. They contain only letters and digits, so a caller's text can't be an operator. */
function quoted(words: SearchPhrase): string {
  return `"${words.join(' ')}"`;
}
