import { EXACT_BONUS, RECENCY_BONUS, RECENCY_HALF_LIFE_MS } from '@ethosagent/policy';
import type { Statement } from '../database/database.js';
import { MESSAGE_COLUMNS, SESSION_COLUMNS } from './session-rows.js';

/** A page of messages ends after this many bytes of texts and data. */
const MAX_PAGE_BYTES = 16_000_000;

/** Returns the statements on sessions and messages. Times are milliseconds since the epoch. */
export function sessionStatements(schema: string): Record<SessionStatement, Statement> {
  const from = `FROM ${schema}.session AS s JOIN ${schema}.owner AS o ON o.id = s.owner`;
  // Reads only the beginnings of texts if no more is wanted. A character has at most four bytes.
  const messages = (text: string, data: string) => `SELECT ${MESSAGE_COLUMNS}, m.text, m.data
    FROM (SELECT page.*, sum(octet_length(text) + coalesce(octet_length(data), 0))
        OVER (ORDER BY sequence ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS above
      FROM (SELECT m.sequence, m.role, m.tool_name, m.created_at, ${text} AS text, ${data} AS data
        FROM ${schema}.message AS m JOIN ${schema}.session AS s ON s.id = m.session
        WHERE s.digest = sha256($1::bytea) AND m.sequence > $2::float8
        ORDER BY m.sequence LIMIT $3) AS page) AS m
    WHERE coalesce(m.above, 0) <= ${MAX_PAGE_BYTES} ORDER BY m.sequence`;
  return {
    append: {
      name: 'ethos_session_append',
      text: `SELECT outcome, before, at_moment AS moment FROM ${schema}.append_claimed(
        $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    },
    claim: {
      name: 'ethos_session_claim',
      text: `SELECT outcome, epoch FROM ${schema}.claim_session($1, $2, $3, $4, $5, $6)`,
    },
    // Locks the rows in the order of their ids, so that two calls never wait for each other.
    renew: {
      name: 'ethos_session_renew',
      text: `WITH mine AS (
          SELECT s.id FROM ${schema}.session AS s
          JOIN unnest($1::bytea[], $2::bigint[]) AS c (session_id, epoch)
            ON s.digest = sha256(c.session_id) AND s.epoch = c.epoch
          ORDER BY s.id FOR UPDATE OF s)
        UPDATE ${schema}.session AS s
        SET held_until = CASE WHEN $3::bigint = 0 THEN 0 ELSE ${schema}.moment($4) + $3 END
        FROM mine WHERE s.id = mine.id AND s.held_until > ${schema}.moment($4)
        RETURNING s.session_id AS "sessionId", s.epoch::float8 AS epoch`,
    },
    get: {
      name: 'ethos_session_get',
      isRepeatable: true,
      text: `SELECT ${SESSION_COLUMNS} ${from}
        WHERE s.digest = sha256($1::bytea) AND s.message_count > 0`,
    },
    list: {
      name: 'ethos_session_list',
      isRepeatable: true,
      text: `SELECT ${SESSION_COLUMNS} ${from}
        WHERE ($1::text IS NULL OR o.digest = sha256(convert_to($1, 'UTF8'))) AND EXISTS (
          SELECT 1 FROM ${schema}.message AS m
          WHERE m.session = s.id AND m.created_at >= $2::float8 AND m.created_at < $3::float8)
        ORDER BY s.last_message_at DESC, s.id DESC LIMIT $4`,
    },
    messages: {
      name: 'ethos_session_messages',
      isRepeatable: true,
      text: messages('m.text', 'm.data'),
    },
    beginnings: {
      name: 'ethos_session_beginnings',
      isRepeatable: true,
      text: messages('substring(m.text FROM 1 FOR $4::int)', 'NULL::text'),
    },
    remove: {
      name: 'ethos_session_remove',
      text: `DELETE FROM ${schema}.session WHERE digest = sha256($1::bytea)
        RETURNING message_count > 0 AS "hadMessages"`,
    },
    search: {
      name: 'ethos_session_search_ranked',
      isRepeatable: true,
      text: searchText(schema),
    },
  };
}

type SessionStatement =
  | 'append'
  | 'claim'
  | 'renew'
  | 'get'
  | 'list'
  | 'messages'
  | 'beginnings'
  | 'remove'
  | 'search';

/**
 * $1: the facts of a message, as words; $2: all words of the query, in their forms; $3 to $6: for
 * each form, its words with spaces around them and two spaces between, its term, the weight of a
 * match, and whether it is the word of the query; $7: roles; $8, $9: since and until; $10: the
 * number of terms; $11: the time, if absent that of the server; $12, $13: limit and offset. The
 * condition on the index stands alone: the index is not used for a part of a CASE.
 *
 * Ranks by BM25 over the messages that were found: a word that all of them contain weighs no more
 * than the others. So a score tells nothing about messages that the user may not see. Messages with
 * all terms come first.
 */
function searchText(schema: string): string {
  return `WITH found AS MATERIALIZED (
      SELECT m.id, m.session, m.sequence, m.created_at, cardinality(m.words) - 2 AS size,
        counts.tf, counts.matched, counts.exact
      FROM ${schema}.message AS m
      CROSS JOIN LATERAL (SELECT ' ' || array_to_string(m.words[3:], '  ') || ' ' AS line) AS l
      CROSS JOIN LATERAL (
        SELECT array_agg(places ORDER BY term) AS tf, count(*) FILTER (WHERE places > 0) AS matched,
          count(*) FILTER (WHERE is_exact) AS exact
        FROM (
          SELECT term, sum(worth * times) AS places, bool_or(of_asked AND times > 0) AS is_exact
          FROM (
            SELECT term, worth, of_asked,
              (length(line) - length(replace(line, form, ''))) / length(form) AS times
            FROM unnest($3::text[], $4::int[], $5::float8[], $6::boolean[])
              AS f (form, term, worth, of_asked)) AS forms
          GROUP BY term) AS terms) AS counts
      WHERE m.words @> $1::text[] AND m.words && $2::text[] AND m.role = ANY ($7::text[])
        AND m.created_at >= $8::float8 AND m.created_at < $9::float8 AND counts.matched > 0
    ),
    all_found AS (
      SELECT count(*)::float8 AS total, avg(size)::float8 AS mean, ${schema}.moment($11) AS now
      FROM found
    ),
    weights AS (
      SELECT n, ln(1 + (max(total) - count(*) + 0.5) / (count(*) + 0.5)) AS weight
      FROM all_found, found CROSS JOIN LATERAL unnest(tf) WITH ORDINALITY AS t (places, n)
      WHERE places > 0 GROUP BY n
    ),
    weighed AS (
      SELECT found.id, found.session, found.sequence, found.matched >= $10::int AS has_all, (
        SELECT sum(weight * places * 2.2
          / (places + 1.2 * (0.25 + 0.75 * found.size / greatest(mean, 1))))
        FROM unnest(found.tf) WITH ORDINALITY AS t (places, n) JOIN weights USING (n)
      ) * matched / $10::int * (1 + ${EXACT_BONUS} * exact / $10::int) * (1 + ${RECENCY_BONUS} * power(2,
        -least(greatest(now - found.created_at, 0) / ${RECENCY_HALF_LIFE_MS}::float8, 100))) AS value
      FROM found, all_found
    ),
    best AS MATERIALIZED (
      SELECT id, session, sequence, has_all::int + value / (1 + value) AS score
      FROM weighed ORDER BY score DESC, id DESC LIMIT $12 OFFSET $13
    )
    SELECT ${SESSION_COLUMNS}, ${MESSAGE_COLUMNS}, m.text, best.score
    FROM best JOIN ${schema}.message AS m ON m.session = best.session AND m.sequence = best.sequence
      JOIN ${schema}.session AS s ON s.id = m.session JOIN ${schema}.owner AS o ON o.id = s.owner
    ORDER BY best.score DESC, best.id DESC`;
}
