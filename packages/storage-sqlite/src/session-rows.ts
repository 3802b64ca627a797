import { ownerOf } from '@ethosagent/policy';
import type { MessageRole, SessionInfo, SessionMessage } from '@ethosagent/types';
import type { Connection } from './driver/connection.js';

/** Returns the columns of a session for `SessionRow`, from `session AS s` and `owner AS o`. */
export function sessionColumnsOf(db: Connection): string {
  return `${db.text('s.session_id')} AS sessionId, ${db.text('o.identity')} AS identity,
    ${db.text('s.key')} AS key, ${db.text('s.personality_id')} AS personalityId,
    s.started_at AS startedAt, s.last_message_at AS lastMessageAt, s.message_count AS messageCount`;
}

/** Returns the columns of a message for `MessageRow` without its data, from `message AS m`. */
export function messageColumnsOf(db: Connection): string {
  return `m.sequence AS sequence, m.role AS role, ${db.text('m.tool_name')} AS toolName,
    ${db.text('m.text')} AS text, m.created_at AS createdAt`;
}

export interface SessionRow {
  sessionId: string;
  identity: string;
  key: string | null;
  personalityId: string | null;
  startedAt: number;
  lastMessageAt: number;
  messageCount: number;
}

export interface StoredMessageRow {
  sessionId: string;
  sequence: number;
  role: MessageRole;
  toolName: string | null;
  text: string;
  createdAt: number;
  data?: string | null;
}

export function sessionOf(row: SessionRow): SessionInfo {
  return {
    id: row.sessionId,
    ...ownerOf(row.identity),
    ...(row.key !== null && { key: row.key }),
    ...(row.personalityId !== null && { personalityId: row.personalityId }),
    startedAt: row.startedAt,
    lastMessageAt: row.lastMessageAt,
    messageCount: row.messageCount,
  };
}

export function messageOf(row: StoredMessageRow): SessionMessage {
  return {
    sessionId: row.sessionId,
    sequence: row.sequence,
    role: row.role,
    text: row.text,
    createdAt: row.createdAt,
    ...(row.toolName !== null && { toolName: row.toolName }),
    ...(typeof row.data === 'string' && { data: JSON.parse(row.data) }),
  };
}
