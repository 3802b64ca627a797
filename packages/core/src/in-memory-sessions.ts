import {
  assertHolds,
  assertKvKey,
  assertLease,
  DEFAULT_KV_LIMITS,
  isSameOwner,
  parseSearchQuery,
  rankTexts,
  searchSnippet,
  takeStart,
} from '@ethosagent/policy';
import {
  EthosError,
  type NewSessionMessage,
  type SessionClaim,
  type SessionInfo,
  type SessionMessage,
  type SessionOwner,
  type SessionRef,
  type SessionStore,
} from '@ethosagent/types';

const DEFAULT_MATCHES = 20;
const DEFAULT_SESSIONS = 100;
const DEFAULT_MESSAGES = 1_000;

interface Session {
  ref: SessionRef;
  messages: SessionMessage[];
  epoch: number;
  /** Until when the claim holds, in milliseconds since the epoch. */
  heldUntil: number;
}

/**
 * Messages of sessions that last as long as the process. For tests, with the rules and error codes
 * of the stores that keep them. A search goes through every message.
 *
 * @param options `clock`: milliseconds since the epoch, `Date.now` when absent
 * @returns the store
 */
export function createInMemorySessionStore({
  clock = () => Date.now(),
}: {
  clock?: () => number;
} = {}): SessionStore {
  const sessions = new Map<string, Session>();
  let lastEpoch = 0;
  const forOwner = (ref: SessionRef): Session => {
    assertIds(ref.id, ref.scopeId, ref.userScopeId, ref.teamId);
    const session = sessions.get(ref.id) ?? {
      ref: { ...ref },
      messages: [],
      epoch: 0,
      heldUntil: Number.NEGATIVE_INFINITY,
    };
    if (isOwner(session.ref, ref)) return session;
    throw new EthosError(
      'SESSION_OWNER_MISMATCH',
      'the session belongs to another owner; give the session another id',
    );
  };
  const held = ({ sessionId, epoch }: SessionClaim): Session | undefined => {
    const session = sessionOf(sessionId);
    return session?.epoch === epoch && session.heldUntil > clock() ? session : undefined;
  };
  const sessionOf = (sessionId: string): Session | undefined => {
    assertIds(sessionId);
    return sessions.get(sessionId);
  };

  return {
    async append(ref, messages, { afterSequence, ...opts } = {}) {
      const session = forOwner(ref);
      const isHeld = session.heldUntil > clock();
      if (messages.length > 0) assertHolds({ epoch: session.epoch, isHeld }, opts);
      const before = session.messages.length;
      if (messages.length > 0 && afterSequence !== undefined && afterSequence !== before) {
        throw new EthosError(
          'SESSION_CHANGED',
          `the last message is ${before}, not ${afterSequence}; read the session again`,
        );
      }
      const now = Math.floor(clock());
      const stored = messages.map((message, index) => ({
        ...copyOf(message),
        createdAt: message.createdAt ?? now,
        sessionId: ref.id,
        sequence: before + index + 1,
      }));
      session.messages.push(...stored);
      if (session.messages.length > 0) sessions.set(ref.id, session);
      return structuredClone(stored);
    },
    async claim(ref, { leaseMs }) {
      const session = forOwner(ref);
      const lease = assertLease(leaseMs);
      const now = clock();
      if (session.heldUntil > now) return null;
      lastEpoch += 1;
      sessions.set(ref.id, session);
      session.epoch = lastEpoch;
      session.heldUntil = now + lease;
      return { sessionId: ref.id, epoch: lastEpoch };
    },
    async renew(claims, { leaseMs }) {
      const until = clock() + assertLease(leaseMs);
      return claims.filter((claim) => {
        const session = held(claim);
        if (session !== undefined) session.heldUntil = until;
        return session !== undefined;
      });
    },
    async release(claim) {
      const session = held(claim);
      if (session !== undefined) session.heldUntil = Number.NEGATIVE_INFINITY;
    },
    async get(sessionId) {
      const session = sessionOf(sessionId);
      return session === undefined || session.messages.length === 0 ? null : infoOf(session);
    },
    async list({ owner, since, until, limit = DEFAULT_SESSIONS } = {}) {
      assertIds(owner?.scopeId, owner?.userScopeId, owner?.teamId);
      const isInTime = timeFilter(since, until);
      return [...sessions.values()]
        .filter(({ ref, messages }) => isOwner(ref, owner) && messages.some(isInTime))
        .map(infoOf)
        .sort((a, b) => b.lastMessageAt - a.lastMessageAt)
        .slice(0, assertCount(limit));
    },
    async messages(sessionId, { afterSequence = 0, limit = DEFAULT_MESSAGES, maxTextChars } = {}) {
      const messages = sessionOf(sessionId)?.messages ?? [];
      // The sequence of a message is its place, from 1.
      const first = Math.max(0, Math.floor(afterSequence));
      const page = messages.slice(first, first + assertCount(limit));
      if (maxTextChars === undefined) return structuredClone(page);
      assertCount(maxTextChars);
      return page.map(({ data: _, text, ...rest }) => ({
        ...rest,
        // Cuts between characters, never within a surrogate pair.
        text: takeStart(text, maxTextChars),
      }));
    },
    async search(query, opts = {}) {
      const { owner, sessionId, since, until, roles, limit = DEFAULT_MATCHES, offset = 0 } = opts;
      assertIds(owner?.scopeId, owner?.userScopeId, owner?.teamId, sessionId);
      assertCount(limit);
      assertCount(offset);
      const isInTime = timeFilter(since, until);
      const terms = parseSearchQuery(query);
      // The latest come first, so that they also come first among equal scores.
      const messages = [...sessions.values()]
        .filter(({ ref }) => isOwner(ref, owner) && (sessionId ?? ref.id) === ref.id)
        .flatMap((session) => session.messages.map((message) => ({ ...message, session })))
        .filter((message) => isInTime(message) && (roles?.includes(message.role) ?? true))
        .sort((a, b) => b.createdAt - a.createdAt || b.sequence - a.sequence);
      return rankTexts(messages, terms, { now: clock() })
        .slice(offset, offset + limit)
        .map(({ item: { session, ...message }, score }) => ({
          message: structuredClone(message),
          session: infoOf(session),
          snippet: searchSnippet(message.text, terms),
          score,
        }));
    },
    async delete(sessionId) {
      assertIds(sessionId);
      const had = (sessions.get(sessionId)?.messages.length ?? 0) > 0;
      sessions.delete(sessionId);
      return had;
    },
  };
}

function infoOf({ ref, messages }: Session): SessionInfo {
  const times = messages.map(({ createdAt }) => createdAt);
  return {
    ...ref,
    startedAt: times.reduce((a, b) => Math.min(a, b)),
    lastMessageAt: times.reduce((a, b) => Math.max(a, b)),
    messageCount: messages.length,
  };
}

function isOwner(ref: SessionOwner, owner: SessionOwner | undefined): boolean {
  return owner === undefined || isSameOwner(ref, owner);
}

function copyOf(message: NewSessionMessage): NewSessionMessage {
  try {
    const { data, text, ...rest } = message;
    return {
      ...rest,
      text: text.toWellFormed(),
      ...(data !== undefined && { data: JSON.parse(JSON.stringify(data)) }),
    };
  } catch (cause) {
    throw new EthosError('VALUE_INVALID', 'the data of a message is not JSON', { cause });
  }
}

function timeFilter(
  since = Number.NEGATIVE_INFINITY,
  until = Number.POSITIVE_INFINITY,
): (message: SessionMessage) => boolean {
  if (Number.isNaN(since) || Number.isNaN(until)) {
    throw invalid('since and until are milliseconds since the epoch');
  }
  return ({ createdAt }) => createdAt >= since && createdAt < until;
}

function assertIds(...ids: (string | undefined)[]): void {
  for (const id of ids) if (id !== undefined) assertKvKey(id, DEFAULT_KV_LIMITS);
}

function assertCount(count: number): number {
  if (Number.isInteger(count) && count >= 0) return count;
  throw invalid('limit, offset and maxTextChars are whole numbers from 0');
}

function invalid(detail: string): EthosError {
  return new EthosError('VALUE_INVALID', detail);
}
