import type { PendingApproval, UntrustedSource } from '@ethosagent/core';
import type { AuditCall, AuditEvent, GrantScope, MessageRole } from '@ethosagent/types';
import type { LockChange } from '@ethosagent/wiring';

/** The answer to the first request of the page. */
export interface HomeState {
  home: string;
  version: string;
  /** The personality that the matrix shows first. */
  personality: string;
  personalities: { id: string; description?: string }[];
  /** How many events are held in memory, and how many older ones are only in the logs. */
  events: { held: number; older: number };
}

/** An event of a log, with its number among all events that were read. */
export interface HeldEvent {
  id: number;
  /** The name of the log's file. */
  log: string;
  seq: number;
  event: AuditEvent | AuditCall;
}

/** A query for events. An absent field matches everything. */
export interface EventQuery {
  text?: string;
  session?: string;
  tool?: string;
  /** A call's id. */
  call?: string;
  host?: string;
  decision?: 'allowed' | 'denied';
  kind?: 'access' | 'call';
  /** Only events up to this id, so that pages stay the same while new events arrive. */
  upTo?: number;
  /** How many of the newest matching events to skip. */
  offset?: number;
  limit?: number;
}

/** A page of events, the newest first. */
export interface EventPage {
  total: number;
  upTo: number;
  events: HeldEvent[];
}

/** A call, combined from its events. */
export interface CallRow {
  id: number;
  sessionId: string;
  personalityId?: string;
  toolName: string;
  toolCallId: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** Absent until its answer is in the log. */
  endedAt?: number;
  durationMs?: number;
  outcome?: AuditCall['outcome'];
  cause?: AuditCall['cause'];
  gate?: string;
  approval?: AuditCall['approval'];
  costUsd?: number;
  accesses: number;
  denied: number;
}

/** One thing that tools may touch. */
export interface ReachRow {
  kind: ReachKind;
  name: string;
  /** By the index of the tool. */
  cells: Record<number, ReachCell>;
}

/** What a tool may do with a thing, and why. */
export interface ReachCell {
  /** In short: `yes`, `read`, `write`, `read, write`. */
  may: string;
  /** Further details: to which hosts a secret may go, in which sandbox a program runs. */
  note?: string;
  /** The parts of the declaration: `network.allowedHosts[1] = "*.example.com"`. */
  declared: string[];
  /** The parts of the personality that allow it, with file and line if they are known. */
  policy: string[];
}

export type ReachKind = 'host' | 'path' | 'secret' | 'binary' | 'other';

/** What each tool may touch under a personality. */
export interface ReachMatrix {
  personality: string;
  tools: { name: string; description: string; offered: boolean; unconfined: boolean }[];
  rows: ReachRow[];
}

/** A session of the home. */
export interface SessionRow {
  id: string;
  key?: string;
  personalityId?: string;
  startedAt: number;
  lastMessageAt: number;
  messageCount: number;
}

/** A message, with the calls that it makes. */
export interface MessageRow {
  sequence: number;
  role: MessageRole;
  text: string;
  toolName?: string;
  createdAt: number;
  calls: { id: string; name: string; args: unknown }[];
}

export interface SessionPage {
  session: SessionRow;
  messages: MessageRow[];
  /** The position to continue after; absent at the end. */
  next?: number;
}

/** A call that waits for a decision. */
export interface WaitingRow {
  sessionId: string;
  /** The origin of the call: a session of tools, or a turn of an agent. */
  from: 'session' | 'agent';
  personalityId: string;
  approval: PendingApproval;
  /** The untrusted content that was read before. */
  sources: UntrustedSource[];
  /** The scopes for which a person may approve for longer than this call. */
  always: GrantScope[];
}

/** A call that has begun, and whose end is not recorded. */
export interface UnfinishedRow {
  sessionId: string;
  personalityId: string;
  approval: PendingApproval;
  /** Milliseconds since the epoch. */
  begunAt: number;
}

export interface WaitingList {
  waiting: WaitingRow[];
  unfinished: UnfinishedRow[];
  /** The sessions that can't be read, and why. */
  problems: string[];
}

/** The decision on a waiting call. */
export interface Decision {
  sessionId: string;
  from: 'session' | 'agent';
  toolCallId: string;
  question: string;
  approved: boolean;
  reason?: string;
  args?: unknown;
  always?: GrantScope;
}

/** An unfinished call that is to be removed from the list. */
export interface Removal {
  sessionId: string;
  toolCallId: string;
  question: string;
}

/** The differences from the reach lock. */
export interface LockView {
  file: string;
  isThere: boolean;
  /** Whether the lock has MCP servers, which are not compared. */
  leavesOut: boolean;
  changes: LockChange[];
}

/** A message of the stream. */
export type StreamMessage =
  | { type: 'events'; newest: number; held: number }
  | { type: 'calls'; calls: CallRow[] }
  | { type: 'approvals' };
