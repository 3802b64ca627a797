import { isLedgerSession } from '@ethosagent/core';
import { isListOf, isObject, isShape, isString } from '@ethosagent/policy';
import {
  EthosError,
  type SessionInfo,
  type SessionMessage,
  type SessionStore,
} from '@ethosagent/types';
import type { MessageRow, SessionPage, SessionRow } from './inspect-api.js';

const MAX_SESSIONS = 1_000;

/** The sessions of a home, the newest first, without those in which protections are stored. */
export async function listSessions(sessions: SessionStore): Promise<SessionRow[]> {
  const all = await sessions.list({ limit: 3 * MAX_SESSIONS });
  return all
    .filter(({ id }) => !isLedgerSession(id))
    .slice(0, MAX_SESSIONS)
    .map(sessionRow);
}

/**
 * A page of a conversation.
 * @throws `CONFIG_INVALID` if the session does not exist
 */
export async function readSession(
  sessions: SessionStore,
  id: string,
  afterSequence: number,
): Promise<SessionPage> {
  const info = isLedgerSession(id) ? null : await sessions.get(id);
  if (info === null) throw new EthosError('CONFIG_INVALID', `there is no session ${id}`);
  const found = await sessions.messages(id, { afterSequence });
  const last = found.at(-1)?.sequence;
  return {
    session: sessionRow(info),
    messages: found.map(messageRow),
    ...(last !== undefined && { next: last }),
  };
}

function sessionRow(info: SessionInfo): SessionRow {
  const { id, key, personalityId, startedAt, lastMessageAt, messageCount } = info;
  return {
    id,
    startedAt,
    lastMessageAt,
    messageCount,
    ...(key !== undefined && { key }),
    ...(personalityId !== undefined && { personalityId }),
  };
}

const isCall = isShape({ id: isString, name: isString });
const isParts = isListOf(isObject);

function messageRow({
  sequence,
  role,
  text,
  toolName,
  createdAt,
  data,
}: SessionMessage): MessageRow {
  return {
    sequence,
    role,
    text,
    createdAt,
    calls: callsOf(data),
    ...(toolName !== undefined && { toolName }),
  };
}

/** The calls in a step of an agent. Messages of other hosts don't have this form. */
function callsOf(data: unknown): MessageRow['calls'] {
  if (!isObject(data) || data.kind !== 'step' || !isParts(data.parts)) return [];
  return data.parts.flatMap(({ type, id, name, input }) => {
    const call = { id, name };
    return type === 'call' && isCall(call) ? [{ ...call, args: input }] : [];
  });
}
