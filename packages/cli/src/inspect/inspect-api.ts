import type { PendingApproval, UntrustedSource } from '@ethosagent/core';
import type { AuditCall, AuditEvent, GrantScope, MessageRole } from '@ethosagent/types';
import type { LockChange } from '@ethosagent/wiring';

/** What the page asks first. */
export interface HomeState {
  home: string;
  version: string;
  /** The personality that the matrix shows first. */
  personality: string;
  personalities: { id: string; description?: string }[];
  /** Events that are held in memory, and older ones that are in the logs alone. */
  events: { held: number; older: number };
}

/** An event of a log, with its place among all that were read. */
export interface HeldEvent {
  id: number;
  /** The name of the log's file. */
  log: string;
  seq: number;
  event: AuditEvent | AuditCall;
}

/** Which events are asked for. Absent: any. */
export interface EventQuery {
  text?: string;
  session?: string;
  tool?: string;
  /** A call's id. */
  call?: string;
  host?: string;
  decision?: 'allowed' | 'denied';
  kind?: 'access' | 'call';
  /** Only events up to this id, so that pages stay where they are while others come. */
  upTo?: number;
  /** Matching events to pass over, from the newest. */
  offset?: number;
  limit?: number;
}

/** A page of events, the newest first. */
export interface EventPage {
  total: number;
  upTo: number;
  events: HeldEvent[];
}

/** A call, as its events tell it. */
export interface CallRow {
  id: number;
  sessionId: string;
  personalityId?: string;
  toolName: string;
  toolCallId: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** Absent while no answer is in the log. */
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

/** What a tool may do with it, and why. */
export interface ReachCell {
  /** In few letters: `yes`, `read`, `write`, `read, write`. */
  may: string;
  /** What is not said by that: to which hosts a secret may go, in which sandbox a program runs. */
  note?: string;
  /** The parts of the declaration: `network.allowedHosts[1] = "*.example.com"`. */
  declared: string[];
  /** The parts of the personality that give it, with file and line where they are known. */
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

/** A message, and the calls that it makes. */
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
  /** Go on after this one; absent at the end. */
  next?: number;
}

/** A call that waits for a yes or a no. */
export interface WaitingRow {
  sessionId: string;
  /** Who asks: a session of tools, or an agent's turn. */
  from: 'session' | 'agent';
  personalityId: string;
  approval: PendingApproval;
  /** What was read before that somebody else may have written. */
  sources: UntrustedSource[];
  /** Whether, and for what, somebody may say always. */
  always: GrantScope[];
}

export interface WaitingList {
  waiting: WaitingRow[];
  /** Sessions that can not be read, and why. */
  problems: string[];
}

/** What is decided on a call that waits. */
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

/** What is different from the reach lock. */
export interface LockView {
  file: string;
  isThere: boolean;
  /** The lock has MCP servers, which are not compared. */
  leavesOut: boolean;
  changes: LockChange[];
}

/** What the stream tells. */
export type StreamMessage =
  | { type: 'events'; newest: number; held: number }
  | { type: 'calls'; calls: CallRow[] }
  | { type: 'approvals'; waiting: number };
