import {
  assertKvKey,
  assertRoles,
  countOf,
  cutText,
  DEFAULT_KV_LIMITS,
  momentOf,
  ownerIdentity,
  parseSearchQuery,
  type SearchTerm,
  searchScore,
  searchSnippet,
} from '@ethosagent/policy';
import type { MessageRole, SessionMatch, SessionSearchOptions } from '@ethosagent/types';
import type { Connection } from './driver/connection.js';
import { ownerFact, roleFact, sessionFact } from './message-index.js';
import {
  type IndexHit,
  type IndexQuery,
  prepareIndexSearch,
  type SearchIndex,
} from './search-query.js';
import {
  messageColumnsOf,
  messageOf,
  type SessionRow,
  type StoredMessageRow,
  sessionColumnsOf,
  sessionOf,
} from './session-rows.js';
import type { SessionTable } from './session-table.js';

const DEFAULT_MATCHES = 20;
const MAX_MATCHES = 200;

/** The most characters of a message's text in a match. `messages` returns the whole text. */
const MAX_MATCH_CHARS = 16_000;

/** Far more than a caller looks at. SQLite only accepts integers of 64 bits. */
const MAX_OFFSET = 1_000_000_000;

/** Among this many of the best matches, recent ones come before older ones with a similar score. */
const POOL = 200;

const INDEX: SearchIndex = {
  table: 'message_words',
  words: ['words'],
  // A match in another form of the word has a little less weight.
  weights: [0, 1, 0.9],
};

type FoundRow = SessionRow & StoredMessageRow;
type ScoredHit = IndexHit & { score: number };

/** A join, so that SQLite searches the index first. */
const WITHIN =
  'CROSS JOIN message AS t ON t.id = f.id WHERE t.created_at >= ? AND t.created_at < ?';

/** Prepares the search over the messages of all sessions. */
export function prepareSessionSearch(db: Connection, table: SessionTable, clock: () => number) {
  const search = prepareIndexSearch(db, INDEX);
  const createdAt = db.prepareColumn<[id: number], number>(
    'SELECT created_at FROM message WHERE id = ?',
  );
  const found = db.prepare<[id: number], FoundRow>(
    `SELECT ${sessionColumnsOf(db)}, ${messageColumnsOf(db)}
     FROM message AS m JOIN session AS s ON s.id = m.session JOIN owner AS o ON o.id = s.owner
     WHERE m.id = ?`,
  );

  /** A page of matches. The best ones are sorted by their scores. */
  function hitsOf(query: IndexQuery): ScoredHit[] {
    const { terms, limit, offset } = query;
    const asked = { terms: terms.length };
    if (offset >= POOL) {
      return search(query).map((hit) => ({ ...hit, score: searchScore(hit, asked) }));
    }
    const now = clock();
    const scored = search({ ...query, limit: Math.max(POOL, offset + limit), offset: 0 }).map(
      (hit, place) => {
        const ageMs = place < POOL ? now - (createdAt.get(hit.id) ?? now) : undefined;
        const score = searchScore(hit, { ...asked, ...(ageMs !== undefined && { ageMs }) });
        return { ...hit, score };
      },
    );
    // Among equal scores, the message that was appended last comes first.
    const pool = scored.slice(0, POOL).sort((a, b) => b.score - a.score || b.id - a.id);
    return [...pool, ...scored.slice(POOL)].slice(offset, offset + limit);
  }

  function matchOf({ id, score }: ScoredHit, terms: readonly SearchTerm[]): SessionMatch[] {
    const row = found.get(id);
    if (row === undefined) return [];
    return [
      {
        message: { ...messageOf(row), text: cutText(row.text, MAX_MATCH_CHARS) },
        session: sessionOf(row),
        snippet: searchSnippet(row.text, terms),
        score,
      },
    ];
  }

  /** The facts to filter by, as words of the index; `undefined` if nothing can match. */
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
    /** Checks the query. The returned function runs the search. */
    search(query: string, opts: SessionSearchOptions): () => SessionMatch[] {
      const terms = parseSearchQuery(query);
      assertRoles(opts.roles ?? []);
      if (opts.sessionId !== undefined) assertKvKey(opts.sessionId, DEFAULT_KV_LIMITS);
      const since = momentOf('since', opts.since, Number.NEGATIVE_INFINITY);
      const until = momentOf('until', opts.until, Number.POSITIVE_INFINITY);
      const isTimed = since !== Number.NEGATIVE_INFINITY || until !== Number.POSITIVE_INFINITY;
      const limit = countOf('limit', opts.limit, { fallback: DEFAULT_MATCHES, max: MAX_MATCHES });
      const offset = countOf('offset', opts.offset, { fallback: 0, max: MAX_OFFSET });
      const page = db.transaction((facts: string[]) => {
        const only = isTimed && { only: { where: WITHIN, values: [since, until] } };
        const hits = hitsOf({ terms, facts, limit, offset, ...only });
        return hits.flatMap((hit) => matchOf(hit, terms));
      });
      return () => {
        const facts = factsFor(opts);
        if (facts === undefined || terms.length === 0 || limit === 0) return [];
        return page(facts);
      };
    },
  };
}
