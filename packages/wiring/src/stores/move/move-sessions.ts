import { createHash } from 'node:crypto';
import { canonicalJson } from '@ethosagent/policy';
import {
  errorCodeOf,
  type SessionInfo,
  type SessionMessage,
  type SessionRef,
  type SessionStore,
} from '@ethosagent/types';
import { digestOf, type Move, type MoveItem } from './move-item.js';

/**
 * Moves sessions with all their messages and protections. A session that has changed in the new
 * store stays as it is there.
 */
export function moveSessions(
  from: SessionStore & { ids(): AsyncIterable<string> },
  to: SessionStore,
): Move {
  return {
    atOnce: 4,
    async *items() {
      for await (const id of from.ids()) yield itemOf(id, { from, to });
    },
  };
}

interface Stores {
  from: SessionStore;
  to: SessionStore;
}

function itemOf(id: string, { from, to }: Stores): MoveItem {
  return {
    name: id,
    async source() {
      const info = await from.get(id);
      return info === null ? undefined : digestOfSession(from, info, info.messageCount);
    },
    async target() {
      const [here, there] = [await from.get(id), await to.get(id)];
      if (here === null || there === null) return undefined;
      return digestOfSession(to, there, here.messageCount);
    },
    async copy(replace) {
      const here = await from.get(id);
      if (here === null) return 'there';
      const there = await to.get(id);
      if (there === null) return append(here, 0, { from, to });
      const common = Math.min(here.messageCount, there.messageCount);
      const [a, b] = [
        await digestOfSession(from, here, common),
        await digestOfSession(to, there, common),
      ];
      if (a === b) {
        return common === here.messageCount ? 'there' : append(here, common, { from, to });
      }
      if (!replace) return 'other';
      await to.delete(id);
      return append(here, 0, { from, to });
    },
  };
}

async function append(
  info: SessionInfo,
  after: number,
  { from, to }: Stores,
): Promise<'moved' | 'other'> {
  const ref = refOf(info);
  let afterSequence = after;
  for await (const page of pagesOf(from, info.id, { after, count: info.messageCount })) {
    const messages = page.map(({ sequence: _, sessionId: __, ...message }) => message);
    try {
      await to.append(ref, messages, { afterSequence });
    } catch (error) {
      const code = errorCodeOf(error) ?? '';
      // Somebody already uses it in the new store.
      if (['SESSION_CHANGED', 'SESSION_OWNER_MISMATCH'].includes(code)) return 'other';
      throw error;
    }
    afterSequence += page.length;
  }
  return 'moved';
}

function refOf({
  startedAt: _,
  lastMessageAt: __,
  messageCount: ___,
  ...ref
}: SessionInfo): SessionRef {
  return ref;
}

async function digestOfSession(
  store: SessionStore,
  info: SessionInfo,
  count: number,
): Promise<string> {
  const hash = createHash('sha256');
  for await (const page of pagesOf(store, info.id, { after: 0, count })) {
    for (const message of page) hash.update(`${canonicalJson(message)}\n`);
  }
  return digestOf({ ref: refOf(info), messages: hash.digest('hex') });
}

/** The messages up to a count, page by page. */
async function* pagesOf(
  store: SessionStore,
  id: string,
  { after, count }: { after: number; count: number },
): AsyncGenerator<SessionMessage[], void, undefined> {
  let afterSequence = after;
  while (afterSequence < count) {
    const page = await store.messages(id, {
      afterSequence,
      limit: Math.min(500, count - afterSequence),
    });
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    afterSequence = last.sequence;
  }
}
