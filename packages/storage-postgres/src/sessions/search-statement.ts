import {
  EXACT_BONUS,
  RANKED_MATCHES,
  RECENCY_BONUS,
  RECENCY_HALF_LIFE_MS,
} from '@ethosagent/policy';
import type { Statement } from '../database/database.js';
import { MESSAGE_COLUMNS, SESSION_COLUMNS } from './session-rows.js';

/** The number of the last parameter before those of the terms. */
const LAST_COMMON = 12;

/** The words of a message in order, with spaces around them and two spaces between. */
const LINE = "' ' || array_to_string(m.words[3:], '  ') || ' '";

/**
 * Returns the statement of a search.
 *
 * $1: the facts of a message, as words; $2 to $5: for each form of a term, its words as in `LINE`,
 * its term, the weight of a match, and whether it is the word of the query; $6: roles; $7, $8: since
 * and until; $9: the number of terms; $10: the time, if absent that of the server; $11, $12: limit
 * and offset. Then for each term: its forms as words of the index, and for several words in a row
 * their `LINE`. The conditions on the index stand alone: the index is not used for a part of a CASE.
 * The times are no bounds of an index: with them, the one by time may seem better than that of words.
 *
 * Ranks by BM25 over the messages that are ranked: a word that all of them contain weighs no more
 * than the others. So a score tells nothing about messages that the user may not see. Messages with
 * all terms come first. To rank a message costs 30 microseconds, so of very many with all terms, or
 * with any, the newest are ranked, and the others come after them.
 *
 * @param terms how many terms the query has
 * @param which `ranked` finds nothing else, at least `RANKED_MATCHES` if there are as many. `all` takes
 * as long as there are messages with a term.
 */
export function searchStatement(schema: string, terms: number, which: 'ranked' | 'all'): Statement {
  const conditions = Array.from({ length: terms }, (_, term) => {
    const [forms, line] = [LAST_COMMON + 1 + 2 * term, LAST_COMMON + 2 + 2 * term];
    return `(m.words && $${forms}::text[] AND ($${line}::text IS NULL OR strpos(${LINE}, $${line}) > 0))`;
  });
  const messages = (condition: string) => `SELECT m.id, m.session, m.sequence
      FROM ${schema}.message AS m
      WHERE m.words @> $1::text[] AND (${condition}) AND m.role = ANY ($6::text[])
        AND m.created_at >= $7::float8 AND m.created_at < $8::float8`;
  const newest = (condition: string) =>
    `(${messages(condition)} ORDER BY m.id DESC LIMIT ${RANKED_MATCHES})`;
  const withAll = newest(conditions.join(' AND '));
  const withAny = conditions.join(' OR ');
  const order = 'has_all DESC, is_ranked DESC, CASE WHEN is_ranked THEN score END DESC, id DESC';
  const text = `WITH ranked AS MATERIALIZED (
      ${terms === 1 ? withAll : `${withAll} UNION ${newest(withAny)}`}
    ),
    matching AS MATERIALIZED (
      ${
        which === 'ranked'
          ? 'SELECT *, true AS is_ranked FROM ranked'
          : `SELECT *, id IN (SELECT id FROM ranked) AS is_ranked FROM (${messages(withAny)}) AS a`
      }
    ),
    found AS MATERIALIZED (
      SELECT m.id, m.session, m.sequence, m.created_at, cardinality(m.words) - 2 AS size,
        matching.is_ranked, counts.tf, counts.matched, counts.exact
      FROM matching JOIN ${schema}.message AS m USING (session, sequence)
      CROSS JOIN LATERAL (SELECT ${LINE} AS line) AS l
      CROSS JOIN LATERAL (
        SELECT array_agg(places ORDER BY term) AS tf, count(*) FILTER (WHERE places > 0) AS matched,
          count(*) FILTER (WHERE is_exact) AS exact
        FROM (
          SELECT term, sum(worth * times) AS places, bool_or(of_asked AND times > 0) AS is_exact
          FROM (
            SELECT term, worth, of_asked,
              (length(line) - length(replace(line, form, ''))) / length(form) AS times
            FROM unnest($2::text[], $3::int[], $4::float8[], $5::boolean[])
              AS f (form, term, worth, of_asked)) AS forms
          GROUP BY term) AS terms) AS counts
    ),
    all_found AS (
      SELECT count(*)::float8 AS total, avg(size)::float8 AS mean, ${schema}.moment($10) AS now
      FROM found WHERE is_ranked
    ),
    weights AS (
      SELECT n, ln(1 + (max(total) - count(*) + 0.5) / (count(*) + 0.5)) AS weight
      FROM all_found, found CROSS JOIN LATERAL unnest(tf) WITH ORDINALITY AS t (places, n)
      WHERE places > 0 AND is_ranked GROUP BY n
    ),
    weighed AS (
      SELECT found.id, found.session, found.sequence, found.is_ranked,
        found.matched >= $9::int AS has_all, (
        SELECT coalesce(sum(weight * places * 2.2
          / (places + 1.2 * (0.25 + 0.75 * found.size / greatest(mean, 1)))), 0)
        FROM unnest(found.tf) WITH ORDINALITY AS t (places, n) JOIN weights USING (n)
      ) * matched / $9::int * (1 + ${EXACT_BONUS} * exact / $9::int) * (1 + ${RECENCY_BONUS} * power(2,
        -least(greatest(now - found.created_at, 0) / ${RECENCY_HALF_LIFE_MS}::float8, 100))) AS value
      FROM found, all_found
    ),
    scored AS (
      SELECT id, session, sequence, is_ranked, has_all, has_all::int + value / (1 + value) AS score
      FROM weighed
    ),
    best AS MATERIALIZED (SELECT * FROM scored ORDER BY ${order} LIMIT $11 OFFSET $12)
    SELECT ${SESSION_COLUMNS}, ${MESSAGE_COLUMNS}, m.text, best.score
    FROM best JOIN ${schema}.message AS m ON m.session = best.session AND m.sequence = best.sequence
      JOIN ${schema}.session AS s ON s.id = m.session JOIN ${schema}.owner AS o ON o.id = s.owner
    ORDER BY ${order.replace(', id', ', best.id')}`;
  return { name: `ethos_session_search_${which}_${terms}`, isRepeatable: true, text };
}
