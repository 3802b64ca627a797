import type { SessionResult } from '@ethosagent/core';
import { canonicalJson } from '@ethosagent/policy';
import type { ToolCall } from '@ethosagent/types';
import type { GraphTask } from './graph-task.js';

/** The most tasks that are remembered, of all graphs. */
const MAX_TASKS = 500;
/** The most characters of their results, including images in base64. */
const MAX_CHARS = 50_000_000;

interface KnownResult {
  run: object;
  result: Promise<SessionResult>;
  /** 0 until the result is there. */
  chars: number;
}

type KnownResults = Map<string, KnownResult>;

/** Results by session and task, since the tools may have been created again after a resume. */
const known = new Map<string, KnownResults>();

export interface SessionCall {
  sessionId: string;
  call: ToolCall;
}

/**
 * Runs a call of a node. After an interrupt, a node runs again from its start. A call that ran
 * before keeps its result and does not run twice.
 */
export async function runOnce(
  task: GraphTask,
  { sessionId, call }: SessionCall,
  execute: () => Promise<SessionResult>,
): Promise<SessionResult> {
  const results = remember(task, sessionId);
  const key = keyOf(call);
  const before = results.get(key);
  // Within one run of a node, a second call is meant as a second call.
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
  // The task that was used last stays longest.
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

/** Whether a call has ended: it does not wait, and it was not aborted. */
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
