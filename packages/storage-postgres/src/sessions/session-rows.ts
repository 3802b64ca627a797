import { ownerOf } from '@ethosagent/policy';
import type { MessageRole, SessionInfo, SessionMessage } from '@ethosagent/types';

/** The columns of a session for `SessionRow`, from `session AS s` and `owner AS o`. */
export const SESSION_COLUMNS = `s.session_id AS "sessionId", o.identity, s.key AS "sessionKey",
  s.personality_id AS "personalityId", s.started_at::float8 AS "startedAt",
  s.last_message_at::float8 AS "lastMessageAt", s.message_count::float8 AS "messageCount"`;

/**
 * The columns of a message for `MessageColumns`, except for its text and data, from `message AS m`.
 */
export const MESSAGE_COLUMNS = `m.sequence::float8 AS sequence, m.role, m.tool_name AS "toolName",
  m.created_at::float8 AS "createdAt"`;

export interface SessionRow {
  sessionId: Buffer;
  identity: string;
  sessionKey: Buffer | null;
  personalityId: Buffer | null;
  startedAt: number;
  lastMessageAt: number;
  messageCount: number;
}

export interface MessageColumns {
  sequence: number;
  role: MessageRole;
  toolName: Buffer | null;
  createdAt: number;
  text: Buffer;
  data?: string | null;
}

export function sessionOf(row: SessionRow): SessionInfo {
  return {
    id: row.sessionId.toString(),
    ...ownerOf(row.identity),
    ...(row.sessionKey !== null && { key: row.sessionKey.toString() }),
    ...(row.personalityId !== null && { personalityId: row.personalityId.toString() }),
    startedAt: row.startedAt,
    lastMessageAt: row.lastMessageAt,
    messageCount: row.messageCount,
  };
}

export function messageOf(sessionId: string, row: MessageColumns): SessionMessage {
  return {
    sessionId,
    sequence: row.sequence,
    role: row.role,
    text: row.text.toString(),
    createdAt: row.createdAt,
    ...(row.toolName !== null && { toolName: row.toolName.toString() }),
    ...(typeof row.data === 'string' && { data: JSON.parse(row.data) }),
  };
}
