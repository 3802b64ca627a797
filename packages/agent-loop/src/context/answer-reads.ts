import type { SessionStore, ToolResult } from '@ethosagent/types';
import type { LoggedCall, SessionLog } from '../journal/session-log.js';
import { READ_RESULT, readResult } from './read-result.js';

/**
 * Answers the open calls of `read_result`. They have no effect, so one whose process died is run
 * again. The session has already read what they return, so they don't change its taint.
 */
export async function answerReads(
  log: SessionLog,
  options: { sessions: SessionStore; sessionId: string; pageChars: number },
): Promise<{ logged: LoggedCall; result: ToolResult }[]> {
  if (!log.isShortened) return [];
  const calls = log.openCalls().filter(({ call }) => call.name === READ_RESULT);
  return Promise.all(
    calls.map(async (logged) => ({ logged, result: await resultOf(logged, options) })),
  );
}

async function resultOf(
  { call }: LoggedCall,
  options: { sessions: SessionStore; sessionId: string; pageChars: number },
): Promise<ToolResult> {
  const page = await readResult(call.input, options);
  if (!page.ok) {
    return { ok: false, code: 'input_invalid', error: page.error, cause: 'INPUT_INVALID' };
  }
  const { text: value, images } = page;
  return { ok: true, value, ...(images.length > 0 && { structured: { images } }) };
}
