import type { Statement } from '../database/database.js';
import { MESSAGE_COLUMNS, SESSION_COLUMNS } from './session-rows.js';

/** A page of messages ends after this many bytes of texts and data. */
const MAX_PAGE_BYTES = 16_000_000;

/** Returns the statements on sessions and messages. Times are milliseconds since the epoch. */
export function sessionStatements(schema: string): Record<SessionStatement, Statement> {
  const from = `FROM ${schema}.session AS s JOIN ${schema}.owner AS o ON o.id = s.owner`;
  // Reads only the beginnings of texts if no more is wanted. A character has at most four bytes. With
  // a join instead of the inner SELECT, PostgreSQL would sort the rest of the session for each page.
  const messages = (text: string, data: string) => `SELECT ${MESSAGE_COLUMNS}, m.text, m.data
    FROM (SELECT page.*, sum(octet_length(text) + coalesce(octet_length(data), 0))
        OVER (ORDER BY sequence ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS above
      FROM (SELECT m.sequence, m.role, m.tool_name, m.created_at, ${text} AS text, ${data} AS data
        FROM ${schema}.message AS m
        WHERE m.session = (SELECT id FROM ${schema}.session WHERE digest = sha256($1::bytea))
          AND m.sequence >= $2::bigint
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
          WHERE m.session = s.id AND m.created_at >= $2::bigint AND m.created_at < $3::bigint)
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
  | 'remove';
