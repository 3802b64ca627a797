import {
  assertKvKey,
  checkedRef,
  countOf,
  DEFAULT_KV_LIMITS,
  type MessageRow,
  messageRow,
  momentOf,
  ownerIdentity,
  sessionTaken,
  takeStart,
} from '@ethosagent/policy';
import {
  EthosError,
  type NewSessionMessage,
  type OpenedStore,
  type SessionAppendOptions,
  type SessionMessage,
  type SessionRef,
  type SessionStore,
} from '@ethosagent/types';
import { type Database, momentFor, wholeBound } from '../database/database.js';
import { Lanes } from '../database/lanes.js';
import { wordsForIndex } from './indexed-words.js';
import { ownerMismatch } from './owner-mismatch.js';
import { createClaims } from './session-claims.js';
import { type MessageColumns, messageOf, type SessionRow, sessionOf } from './session-rows.js';
import { checkedSearch, searchSessions } from './session-search.js';
import { sessionStatements } from './session-statements.js';

const LIMITS = { maxTextChars: 1_000_000, maxDataChars: 10_000_000 };
const DEFAULT_SESSIONS = 100;
const MAX_SESSIONS = 1_000;
const DEFAULT_MESSAGES = 1_000;
const MAX_MESSAGES = 10_000;
const MAX_TEXT_LENGTH = 268_435_456;

/** Opens the sessions of a database. */
export async function openSessions(
  database: Database,
): Promise<Required<OpenedStore<SessionStore>>> {
  const close = await database.open();
  const lanes = new Lanes();
  return {
    store: createSessions(database, lanes),
    async close() {
      await lanes.settled();
      await close();
    },
    problem: () => database.problem(),
  };
}

function createSessions(database: Database, lanes: Lanes): SessionStore {
  const statements = sessionStatements(database.schema);
  return {
    ...createClaims({ database, statements, lanes }),
    async append(session, messages, opts = {}) {
      const append = checkedAppend(session, messages, opts);
      if (append.rows.length === 0) return [];
      const now = momentFor(database);
      return lanes.write(session.id, () => sendAppend({ database, statements, now, append }));
    },
    async get(sessionId) {
      assertKvKey(sessionId, DEFAULT_KV_LIMITS);
      await lanes.settled(sessionId);
      const [row] = await database.run<SessionRow>(statements.get, [Buffer.from(sessionId)]);
      return row === undefined ? null : sessionOf(row);
    },
    async list(opts = {}) {
      const values = [
        opts.owner === undefined ? null : ownerIdentity(opts.owner),
        wholeBound(momentOf('since', opts.since, Number.NEGATIVE_INFINITY)),
        wholeBound(momentOf('until', opts.until, Number.POSITIVE_INFINITY)),
        countOf('limit', opts.limit, { fallback: DEFAULT_SESSIONS, max: MAX_SESSIONS }),
      ];
      await lanes.settled();
      return (await database.run<SessionRow>(statements.list, values)).map(sessionOf);
    },
    async messages(sessionId, opts = {}) {
      assertKvKey(sessionId, DEFAULT_KV_LIMITS);
      const values = [
        Buffer.from(sessionId),
        // The sequence after the one that is given.
        wholeBound(Math.floor(momentOf('afterSequence', opts.afterSequence, 0)) + 1),
        countOf('limit', opts.limit, { fallback: DEFAULT_MESSAGES, max: MAX_MESSAGES }),
      ];
      const maxTextChars =
        opts.maxTextChars === undefined
          ? undefined
          : countOf('maxTextChars', opts.maxTextChars, { fallback: 0, max: MAX_TEXT_LENGTH });
      await lanes.settled(sessionId);
      if (maxTextChars === undefined) {
        const rows = await database.run<MessageColumns>(statements.messages, values);
        return rows.map((row) => messageOf(sessionId, row));
      }
      // A character has at most four bytes, so only a character after the wanted ones can be cut.
      const bytes = maxTextChars * 4;
      const rows = await database.run<MessageColumns>(statements.beginnings, [...values, bytes]);
      return rows
        .map((row) => messageOf(sessionId, row))
        .map((message) => ({ ...message, text: takeStart(message.text, maxTextChars) }));
    },
    async search(query, opts = {}) {
      const asked = checkedSearch(query, opts);
      await lanes.settled();
      return searchSessions(database, asked);
    },
    async delete(sessionId) {
      assertKvKey(sessionId, DEFAULT_KV_LIMITS);
      return lanes.write(sessionId, async () => {
        const [gone] = await database.run<{ hadMessages: boolean }>(statements.remove, [
          Buffer.from(sessionId),
        ]);
        return gone?.hadMessages === true;
      });
    },
  };
}

/** A checked append. */
interface Append {
  ref: ReturnType<typeof checkedRef>;
  identity: string;
  rows: readonly (Omit<MessageRow, 'createdAt'> & { createdAt: number | undefined })[];
  opts: SessionAppendOptions;
}

function checkedAppend(
  session: SessionRef,
  messages: readonly NewSessionMessage[],
  opts: SessionAppendOptions,
): Append {
  return {
    ref: checkedRef(session),
    identity: ownerIdentity(session),
    rows: messages.map((message) => {
      // Without a time in the message, the server's clock is used.
      const { createdAt } = message;
      return { ...messageRow({ ...message, createdAt: createdAt ?? 0 }, 0, LIMITS), createdAt };
    }),
    opts,
  };
}

async function sendAppend({
  database,
  statements,
  now,
  append: { ref, identity, rows, opts },
}: {
  database: Database;
  statements: ReturnType<typeof sessionStatements>;
  now: number | undefined;
  append: Append;
}): Promise<SessionMessage[]> {
  const bytes = (text: string | null) => (text === null ? null : Buffer.from(text));
  const [answer] = await database.run<{ outcome: string; before: number; moment: number }>(
    statements.append,
    [
      bytes(ref.id),
      identity,
      bytes(ref.key),
      bytes(ref.personalityId),
      opts.afterSequence ?? null,
      now ?? null,
      rows.map(({ createdAt }) => createdAt ?? null),
      rows.map(({ role }) => role),
      rows.map(({ toolName }) => bytes(toolName)),
      rows.map(({ text }) => bytes(text)),
      rows.map(({ data }) => data),
      rows.map(wordsForIndex),
      opts.epoch ?? null,
      opts.aside === true,
    ],
  );
  const { outcome, before, moment } = answer ?? { outcome: '', before: 0, moment: 0 };
  if (outcome === 'owner') throw ownerMismatch();
  if (outcome === 'taken') throw sessionTaken(opts.epoch);
  if (outcome !== 'done') {
    throw new EthosError(
      'SESSION_CHANGED',
      `the last message is ${before}, not ${opts.afterSequence}; read the session again`,
    );
  }
  return rows.map((row, index) =>
    messageOf(ref.id, {
      ...row,
      createdAt: row.createdAt ?? moment,
      sequence: before + index + 1,
      text: Buffer.from(row.text),
      toolName: bytes(row.toolName),
    }),
  );
}
