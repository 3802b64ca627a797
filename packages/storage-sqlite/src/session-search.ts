import {
  assertKvKey,
  assertRoles,
  countOf,
  cutText,
  DEFAULT_KV_LIMITS,
  momentOf,
  ownerIdentity,
  parseSearchQuery,
  type SearchPhrase,
  searchSnippet,
} from '@ethosagent/policy';
import type { MessageRole, SessionMatch, SessionSearchOptions } from '@ethosagent/types';
import type { Connection } from './driver/connection.js';
import { ftsQuery } from './search-query.js';
import {
  messageColumnsOf,
  messageOf,
  type SessionRow,
  type StoredMessageRow,
  sessionColumnsOf,
  sessionOf,
} from './session-rows.js';
import { ownerFact, roleFact, type SessionTable, sessionFact } from './session-table.js';

const DEFAULT_MATCHES = 20;
const MAX_MATCHES = 200;

/** Characters of a message's text that a match holds at most; `messages` has the whole. */
const MAX_MATCH_CHARS = 16_000;

/** Far more than a caller looks at. SQLite takes whole numbers of 64 bits only. */
const MAX_OFFSET = 1_000_000_000;

type FoundRow = SessionRow & StoredMessageRow & { score: number };

interface Filter {
  facts: string[];
  since: number;
  until: number;
  limit: number;
  offset: number;
}

/** Prepares the search over the messages of all sessions. */
export function prepareSessionSearch(db: Connection, table: SessionTable) {
  // The facts weigh nothing. Of equals the message appended last comes first.
  const found = (join: string, where: string) =>
    db.prepare<[query: string, ...numbers: number[]], FoundRow>(
      `WITH best AS MATERIALIZED (
         SELECT w.rowid AS id, bm25(message_words, 0.0, 1.0) AS score
         FROM message_words AS w ${join} WHERE message_words MATCH ? ${where}
         ORDER BY score, w.rowid DESC LIMIT ? OFFSET ?
       )
       SELECT ${sessionColumnsOf(db)}, ${messageColumnsOf(db)}, best.score AS score
       FROM best JOIN message AS m ON m.id = best.id
         JOIN session AS s ON s.id = m.session JOIN owner AS o ON o.id = s.owner
       ORDER BY best.score, best.id DESC`,
    );
  const atAnyTime = found('', '');
  const within = found(
    'CROSS JOIN message AS t ON t.id = w.rowid',
    'AND t.created_at >= ? AND t.created_at < ?',
  );

  function* rowsOf(query: string, { since, until, limit, offset }: Filter): Generator<FoundRow> {
    const isTimed = since !== Number.NEGATIVE_INFINITY || until !== Number.POSITIVE_INFINITY;
    yield* isTimed
      ? within.iterate(query, since, until, limit, offset)
      : atAnyTime.iterate(query, limit, offset);
  }

  /** The matches of one way to join the phrases. */
  function matchesOf(
    phrases: readonly SearchPhrase[],
    join: 'AND' | 'OR',
    filter: Filter,
  ): SessionMatch[] {
    const matches: SessionMatch[] = [];
    for (const row of rowsOf(
      ftsQuery(phrases, join, { facts: filter.facts, columns: ['words'] }),
      filter,
    )) {
      matches.push({
        message: { ...messageOf(row), text: cutText(row.text, MAX_MATCH_CHARS) },
        session: sessionOf(row),
        snippet: searchSnippet(row.text, phrases),
        score: -row.score,
      });
    }
    return matches;
  }

  /** What filters, as words of the index; `undefined` when nothing can be found. */
  function factsFor(opts: SessionSearchOptions): string[] | undefined {
    const facts: string[] = [];
    if (opts.owner !== undefined) {
      const owner = table.owner(ownerIdentity(opts.owner));
      if (owner === undefined) return undefined;
      facts.push(ownerFact(owner));
    }
    if (opts.sessionId !== undefined) {
      const session = table.find(opts.sessionId);
      if (session === undefined) return undefined;
      facts.push(sessionFact(session.rowid));
    }
    const roles = new Set<MessageRole>(opts.roles);
    if (opts.roles !== undefined && roles.size === 0) return undefined;
    if (roles.size > 0) facts.push(`(${[...roles].map(roleFact).join(' OR ')})`);
    return facts;
  }

  return {
    /** Checks what is asked for; the search itself runs when the answer is called. */
    search(query: string, opts: SessionSearchOptions): () => SessionMatch[] {
      const phrases = parseSearchQuery(query);
      assertRoles(opts.roles ?? []);
      if (opts.sessionId !== undefined) assertKvKey(opts.sessionId, DEFAULT_KV_LIMITS);
      const filter = {
        since: momentOf('since', opts.since, Number.NEGATIVE_INFINITY),
        until: momentOf('until', opts.until, Number.POSITIVE_INFINITY),
        limit: countOf('limit', opts.limit, { fallback: DEFAULT_MATCHES, max: MAX_MATCHES }),
        offset: countOf('offset', opts.offset, { fallback: 0, max: MAX_OFFSET }),
      };
      return () => {
        const facts = factsFor(opts);
        if (facts === undefined || phrases.length === 0 || filter.limit === 0) return [];
        const all = matchesOf(phrases, 'AND', { ...filter, facts });
        if (all.length > 0 || phrases.length === 1) return all;
        const first = { ...filter, facts, limit: 1, offset: 0 };
        if (filter.offset > 0 && matchesOf(phrases, 'AND', first).length > 0) return [];
        return matchesOf(phrases, 'OR', { ...filter, facts });
      };
    },
  };
}
