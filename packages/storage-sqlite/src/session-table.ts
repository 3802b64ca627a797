import { type MessageRow, takeStart } from '@ethosagent/policy';
import { EthosError, type MessageRole, type SessionAppendOptions } from '@ethosagent/types';
import type { Connection } from './driver/connection.js';
import { LIMIT } from './limit.js';
import { prepareIndexing } from './message-index.js';
import { prepareClaims } from './session-claims.js';
import {
  messageColumnsOf,
  type SessionRow,
  type StoredMessageRow,
  sessionColumnsOf,
} from './session-rows.js';

/** The statements on sessions and their messages. Times are milliseconds since the epoch. */
export type SessionTable = ReturnType<typeof prepareSessionTable>;

export interface SessionKey {
  id: string;
  identity: string;
  key: string | null;
  personalityId: string | null;
}

/**
 * For a session without messages: the start is the largest time, and the last message has the
 * smallest.
 */
const NEVER = Number.MAX_SAFE_INTEGER;

/** Prepares all statements once for a connection. */
export function prepareSessionTable(db: Connection) {
  const claims = prepareClaims(db);
  const from = 'FROM session AS s JOIN owner AS o ON o.id = s.owner';
  const sessionColumns = sessionColumnsOf(db);
  const findOwner = db.prepareColumn<[identity: string], number>(
    'SELECT id FROM owner WHERE identity = ?',
  );
  const addOwner = db.prepare<[identity: string]>('INSERT INTO owner (identity) VALUES (?)');
  const find = db.prepare<[id: string], { rowid: number; owner: number; messageCount: number }>(
    `SELECT id AS rowid, owner, message_count AS messageCount FROM session WHERE session_id = ?`,
  );
  const addSession = db.prepare<[string, number, number, number, string | null, string | null]>(
    `INSERT INTO session
       (session_id, owner, started_at, last_message_at, message_count, key, personality_id)
     VALUES (?, ?, ?, ?, 0, ?, ?)`,
  );
  const addMessage = db.prepare<
    [number, number, number, MessageRole, string | null, string, string | null]
  >(
    `INSERT INTO message (session, sequence, created_at, role, tool_name, text, data)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const addToIndex = prepareIndexing(db);
  const touch = db.prepare<[count: number, first: number, last: number, rowid: number]>(
    `UPDATE session SET message_count = message_count + ?,
       started_at = min(started_at, ?), last_message_at = max(last_message_at, ?) WHERE id = ?`,
  );
  const get = db.prepare<[id: string], SessionRow>(
    `SELECT ${sessionColumns} ${from} WHERE s.session_id = ? AND s.message_count > 0`,
  );
  const list = (where: string) =>
    db.prepare<[...owner: number[], since: number, until: number, limit: number], SessionRow>(
      `SELECT ${sessionColumns} ${from} WHERE ${where} EXISTS
         (SELECT 1 FROM message WHERE session = s.id AND created_at >= ? AND created_at < ?)
       ORDER BY s.last_message_at DESC, s.id DESC ${LIMIT}`,
    );
  const listAll = list('');
  const listOwned = list('s.owner = ? AND');
  const idsAfter = db.prepare<[after: number, limit: number], { rowid: number; id: string }>(
    `SELECT s.id AS rowid, ${db.text('s.session_id')} AS id FROM session AS s
     WHERE s.id > ? ORDER BY s.id ${LIMIT}`,
  );
  const messages = db.prepare<[id: string, after: number, limit: number], StoredMessageRow>(
    `SELECT ${db.text('s.session_id')} AS sessionId, ${messageColumnsOf(db)},
       ${db.text('m.data')} AS data
     FROM session AS s JOIN message AS m ON m.session = s.id
     WHERE s.session_id = ? AND m.sequence > ? ORDER BY m.sequence ${LIMIT}`,
  );
  // As bytes, since SQLite's functions on texts stop at a NUL. Only the beginning becomes a string
  // here.
  const beginnings = db.prepare<
    [bytes: number, id: string, after: number, limit: number],
    Omit<StoredMessageRow, 'text'> & { begin: { toString(): string } }
  >(
    `SELECT ${db.text('s.session_id')} AS sessionId, m.sequence AS sequence, m.role AS role,
       ${db.text('m.tool_name')} AS toolName, m.created_at AS createdAt,
       substr(CAST(m.text AS BLOB), 1, ?) AS begin
     FROM session AS s JOIN message AS m ON m.session = s.id
     WHERE s.session_id = ? AND m.sequence > ? ORDER BY m.sequence ${LIMIT}`,
  );
  const removeWords = db.prepare<[rowid: number]>(
    'DELETE FROM message_words WHERE rowid IN (SELECT id FROM message WHERE session = ?)',
  );
  const removeMessages = db.prepare<[rowid: number]>('DELETE FROM message WHERE session = ?');
  const removeSession = db.prepare<[rowid: number]>('DELETE FROM session WHERE id = ?');

  function ownerFor(identity: string): number {
    return findOwner.get(identity) ?? Number(addOwner.run(identity).lastInsertRowid);
  }

  function sessionFor({ id, identity, key, personalityId }: SessionKey) {
    const owner = ownerFor(identity);
    const known = find.get(id);
    if (known === undefined) {
      const added = addSession.run(id, owner, NEVER, -NEVER, key, personalityId);
      return { rowid: Number(added.lastInsertRowid), owner, messageCount: 0 };
    }
    if (known.owner !== owner) {
      throw new EthosError(
        'SESSION_OWNER_MISMATCH',
        'the session belongs to another owner; give the session another id',
      );
    }
    return known;
  }

  // One transaction, since it consists of several statements: if one fails, nothing is changed.
  const append = db.transaction(
    (
      session: SessionKey,
      rows: readonly MessageRow[],
      { afterSequence, now, ...opts }: SessionAppendOptions & { now: number },
    ): number => {
      const times = rows.map(({ createdAt }) => createdAt);
      const first = times.reduce((a, b) => Math.min(a, b));
      const { rowid, owner, messageCount } = sessionFor(session);
      claims.assertHolds(rowid, now, opts);
      if (afterSequence !== undefined && afterSequence !== messageCount) {
        throw sessionChanged(messageCount, afterSequence);
      }
      rows.forEach((row, index) => {
        const { lastInsertRowid } = addMessage.run(
          rowid,
          messageCount + index + 1,
          row.createdAt,
          row.role,
          row.toolName,
          row.text,
          row.data,
        );
        addToIndex(lastInsertRowid, { owner, session: rowid, role: row.role }, row);
      });
      touch.run(
        rows.length,
        first,
        times.reduce((a, b) => Math.max(a, b)),
        rowid,
      );
      return messageCount;
    },
  );

  const claim = db.transaction(
    (session: SessionKey, now: number, leaseMs: number): number | undefined =>
      claims.take(sessionFor(session).rowid, now, leaseMs),
  );

  const remove = db.transaction((id: string): boolean => {
    const known = find.get(id);
    if (known === undefined) return false;
    removeWords.run(known.rowid);
    removeMessages.run(known.rowid);
    removeSession.run(known.rowid);
    return known.messageCount > 0;
  });

  return {
    /** Appends one or more messages. Returns how many there were before. */
    append(
      session: SessionKey,
      rows: readonly MessageRow[],
      opts: SessionAppendOptions & { now: number },
    ): number {
      return append(session, rows, opts);
    },
    /** The epoch of a new claim; `undefined` while another one holds. */
    claim(session: SessionKey, now: number, leaseMs: number): number | undefined {
      return claim(session, now, leaseMs);
    },
    extend: claims.extend,
    /** The number of an owner that has had a session. */
    owner(identity: string): number | undefined {
      return findOwner.get(identity);
    },
    find(id: string) {
      return find.get(id);
    },
    get(id: string): SessionRow | undefined {
      return get.get(id);
    },
    list(options: { owner?: number; since: number; until: number; limit: number }): SessionRow[] {
      const { owner, since, until, limit } = options;
      return owner === undefined
        ? listAll.all(since, until, limit)
        : listOwned.all(owner, since, until, limit);
    },
    /** The ids of sessions, in the order in which they were first stored. */
    idsAfter(after: number, limit: number) {
      return idsAfter.all(after, limit);
    },
    messages(id: string, after: number, limit: number): IterableIterator<StoredMessageRow> {
      return messages.iterate(id, after, limit);
    },
    /** The messages without their data, and only the first characters of each text. */
    *beginnings(
      id: string,
      { after, limit, maxTextChars }: { after: number; limit: number; maxTextChars: number },
    ): Generator<StoredMessageRow> {
      // A character has at most four bytes, so only a character after the wanted ones can be cut.
      for (const { begin, ...row } of beginnings.iterate(maxTextChars * 4, id, after, limit)) {
        yield { ...row, text: takeStart(begin.toString(), maxTextChars) };
      }
    },
    remove(id: string): boolean {
      return remove(id);
    },
  };
}

function sessionChanged(last: number, expected: number): EthosError {
  return new EthosError(
    'SESSION_CHANGED',
    `the last message is ${last}, not ${expected}; read the session again`,
  );
}
