import {
  assertKvKey,
  assertRoles,
  countOf,
  cutText,
  DEFAULT_KV_LIMITS,
  momentOf,
  ownerIdentity,
  parseSearchQuery,
  RANKED_MATCHES,
  type SearchTerm,
  searchSnippet,
} from '@ethosagent/policy';
import type { MessageRole, SessionMatch, SessionSearchOptions } from '@ethosagent/types';
import { type Database, momentFor } from '../database/database.js';
import { indexedStem, indexedWord } from './indexed-words.js';
import { searchStatement } from './search-statement.js';
import { type MessageColumns, messageOf, type SessionRow, sessionOf } from './session-rows.js';

const DEFAULT_MATCHES = 20;
const MAX_MATCHES = 200;

/** The most characters of a message's text in a match. `messages` returns the whole text. */
const MAX_MATCH_CHARS = 16_000;
const MAX_OFFSET = 1_000_000_000;
/** A match in another form of the word has a little less weight. */
const OTHER_FORM = 0.9;
const ROLES: readonly MessageRole[] = ['system', 'user', 'assistant', 'tool'];

/** The checked options of a search. */
interface Asked {
  terms: readonly SearchTerm[];
  owner: string | undefined;
  sessionId: string | undefined;
  roles: readonly MessageRole[];
  since: number;
  until: number;
  limit: number;
  offset: number;
}

/**
 * Checks a query and the options of a search.
 * @throws `VALUE_INVALID` for an invalid query or option, `KEY_INVALID` for an invalid session id
 */
export function checkedSearch(query: string, opts: SessionSearchOptions): Asked {
  assertRoles(opts.roles ?? []);
  if (opts.sessionId !== undefined) assertKvKey(opts.sessionId, DEFAULT_KV_LIMITS);
  return {
    terms: parseSearchQuery(query),
    owner: opts.owner === undefined ? undefined : ownerIdentity(opts.owner),
    sessionId: opts.sessionId,
    roles: opts.roles ?? ROLES,
    since: momentOf('since', opts.since, Number.NEGATIVE_INFINITY),
    until: momentOf('until', opts.until, Number.POSITIVE_INFINITY),
    limit: countOf('limit', opts.limit, { fallback: DEFAULT_MATCHES, max: MAX_MATCHES }),
    offset: countOf('offset', opts.offset, { fallback: 0, max: MAX_OFFSET }),
  };
}

/** Searches the messages of all sessions. */
export async function searchSessions(database: Database, asked: Asked): Promise<SessionMatch[]> {
  const { terms, roles, limit, offset } = asked;
  if (terms.length === 0 || limit === 0 || roles.length === 0) return [];
  const facts = await factsFor(database, asked);
  if (facts === undefined) return [];
  const forms = terms.flatMap(formsOf);
  const values = [
    facts,
    forms.map(({ words }) => lineOf(words)),
    forms.map(({ term }) => term),
    forms.map(({ worth }) => worth),
    forms.map(({ isExact }) => isExact),
    roles,
    asked.since,
    asked.until,
    terms.length,
    momentFor(database) ?? null,
    limit,
    offset,
    ...terms.flatMap(conditionOf),
  ];
  // At least as many are ranked, or all.
  const which = offset + limit <= RANKED_MATCHES ? 'ranked' : 'all';
  const rows = await database.run<SessionRow & MessageColumns & { score: number }>(
    searchStatement(database.schema, terms.length, which),
    values,
  );
  return rows.map((row) => matchOf(row, terms));
}

/** The parameters of a term: its forms in the index, and the line of several words in a row. */
function conditionOf({ words, stem }: SearchTerm): [forms: string[], line: string | null] {
  if (stem !== undefined) return [[indexedWord(stem), indexedStem(stem)], null];
  const asked = words.map(indexedWord);
  // A long word is in the fewest messages.
  const longest = asked.reduce((one, other) => (other.length > one.length ? other : one), '');
  return [[longest], asked.length > 1 ? lineOf(asked) : null];
}

/** Words as a statement looks for them. */
function lineOf(words: readonly string[]): string {
  return ` ${words.join('  ')} `;
}

/** A form in which a term can be found. */
interface Form {
  words: readonly string[];
  term: number;
  /** The weight of a match. */
  worth: number;
  isExact: boolean;
}

function formsOf({ words, stem }: SearchTerm, term: number): Form[] {
  const asked = words.map(indexedWord);
  if (stem === undefined) return [{ words: asked, term, worth: 1, isExact: true }];
  const isStem = words[0] === stem;
  return [
    // A word of the text may be the stem itself, which may also be the word of the query.
    { words: [indexedWord(stem)], term, worth: 1, isExact: isStem },
    { words: [indexedStem(stem)], term, worth: OTHER_FORM, isExact: false },
    ...(isStem ? [] : [{ words: asked, term, worth: 0, isExact: true }]),
  ];
}

function matchOf(
  row: SessionRow & MessageColumns & { score: number },
  terms: readonly SearchTerm[],
): SessionMatch {
  const session = sessionOf(row);
  const message = messageOf(session.id, row);
  return {
    message: { ...message, text: cutText(message.text, MAX_MATCH_CHARS) },
    session,
    snippet: searchSnippet(message.text, terms),
    score: row.score,
  };
}

/** Returns the facts to filter by, as words of the index; `undefined` if nothing can match. */
async function factsFor(
  database: Database,
  { owner, sessionId }: Asked,
): Promise<string[] | undefined> {
  const { schema } = database;
  const [found] = await database.run<{ owner: string | null; session: string | null }>(
    {
      name: 'ethos_session_facts',
      isRepeatable: true,
      text: `SELECT
        (SELECT id FROM ${schema}.owner WHERE digest = sha256(convert_to($1::text, 'UTF8'))) AS owner,
        (SELECT id FROM ${schema}.session WHERE digest = sha256($2::bytea)) AS session`,
    },
    [owner ?? null, sessionId === undefined ? null : Buffer.from(sessionId)],
  );
  const facts: string[] = [];
  if (owner !== undefined) {
    if (found?.owner == null) return undefined;
    facts.push(`#owner${found.owner}`);
  }
  if (sessionId !== undefined) {
    if (found?.session == null) return undefined;
    facts.push(`#session${found.session}`);
  }
  return facts;
}
