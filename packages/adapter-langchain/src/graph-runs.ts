import type { SessionResult } from '@ethosagent/core';
import { canonicalJson } from '@ethosagent/policy';
import type { ToolCall } from '@ethosagent/types';
import type { GraphTask } from './graph-task.js';

/** Tasks that are remembered, of all graphs. */
const MAX_TASKS = 500;
/** Characters of their results, images in base64 included. */
const MAX_CHARS = 50_000_000;

interface KnownResult {
  run: object;
  result: Promise<SessionResult>;
  /** 0 until it is there. */
  chars: number;
}

type KnownResults = Map<string, KnownResult>;

/** By session and task, since whoever resumes a graph may have made its tools anew. */
const known = new Map<string, KnownResults>();

export interface SessionCall {
  sessionId: string;
  call: ToolCall;
}

/**
 * Runs a call of a node. A node that is interrupted runs again from its start: what ran before keeps
 * its result, and does not run twice.
 */
export async function runOnce(
  task: GraphTask,
  { sessionId, call }: SessionCall,
  execute: () => Promise<SessionResult>,
): Promise<SessionResult> {
  const results = remember(task, sessionId);
  const key = keyOf(call);
  const before = results.get(key);
  // In one run of a node, a second call is meant as one.
  if (before !== undefined && before.run !== task.run) return before.result;
  const mine: KnownResult = { run: task.run, result: execute(), chars: 0 };
  results.set(key, mine);
  let isKept = false;
  try {
    const answer = await mine.result;
    mine.chars = charsOf(answer);
    isKept = isOver(answer);
    return answer;
  } finally {
    if (!isKept && results.get(key) === mine) results.delete(key);
  }
}

/** Whether a call ran, or was refused, when the node ran before. */
export function ranBefore(task: GraphTask, { sessionId, call }: SessionCall): boolean {
  const before = known.get(taskKey(task, sessionId))?.get(keyOf(call));
  return before !== undefined && before.run !== task.run;
}

function remember(task: GraphTask, sessionId: string): KnownResults {
  const key = taskKey(task, sessionId);
  const results: KnownResults = known.get(key) ?? new Map();
  // The one that was asked for last stays longest.
  known.delete(key);
  known.set(key, results);
  let chars = 0;
  for (const each of known.values()) for (const one of each.values()) chars += one.chars;
  for (const [oldest, each] of known) {
    if (oldest === key || (known.size <= MAX_TASKS && chars <= MAX_CHARS)) break;
    known.delete(oldest);
    for (const one of each.values()) chars -= one.chars;
  }
  return results;
}

function taskKey({ id }: GraphTask, sessionId: string): string {
  return JSON.stringify([sessionId, id]);
}

/** Whether a call came to its end: it does not wait, and nobody broke it off. */
function isOver({ result, approval }: SessionResult): boolean {
  return approval === undefined && (result.ok || result.cause !== 'CALL_ABORTED');
}

function charsOf({ text, result, images }: SessionResult): number {
  const structured = result.ok ? result.structured : undefined;
  const shown = images.reduce((sum, { data }) => sum + data.length, 0);
  try {
    return text.length + shown + (JSON.stringify(structured)?.length ?? 0);
  } catch {
    return text.length + shown;
  }
}

function keyOf({ toolCallId, name, args }: ToolCall): string {
  return canonicalJson([toolCallId, name, args]);
}
