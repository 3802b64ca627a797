import { takeStart } from '@ethosagent/policy';
import {
  EthosError,
  errorCodeOf,
  type StoredTurn,
  type TurnOutcome,
  type TurnStore,
} from '@ethosagent/types';
import { type AgentLoop, openKeyOf, type TurnDone } from '../agent-loop.js';
import type { AgentEvent } from '../api.js';
import type { HeldSession } from '../held-session.js';
import { MAX_ANSWER_CHARS, withAnswers } from './answers-of.js';

/** A turn that a worker has taken, with its session. */
export interface TakenTurn {
  turn: StoredTurn;
  turns: TurnStore;
  held: HeldSession;
  /** Fires when the user cancels the turn. */
  cancelled: AbortSignal;
  /** Whether the turn is to be handed over at the next step. */
  isHandedOver: () => boolean;
  /**
   * Fires when the worker must leave the turn at once: it has lost the session, or its time is up.
   */
  left: AbortSignal;
  onEvent: (event: AgentEvent) => void;
}

/** Ten minutes. A server that does not answer is asked at least this often. */
const MAX_BACKOFF_MS = 600_000;

/** Runs or resumes a turn, and returns its outcome. Never rejects. */
export async function runTurn(loop: AgentLoop, taken: TakenTurn): Promise<TurnOutcome> {
  const { turn, turns, held, cancelled } = taken;
  try {
    if (turn.wasPaused && !cancelled.aborted && (await loop.state(turn.sessionId)) === 'paused') {
      return { state: 'paused' };
    }
    const done = await readTurn(loop, taken);
    if (done === undefined) return { state: 'waiting' };
    return await outcomeOf(loop, done, taken);
  } catch (error) {
    const isTurnOver = async (key: string) => key !== turn.id && isOver(await turns.get(key));
    if (errorCodeOf(error) === 'TURN_INVALID' && (await giveUp(loop, taken, isTurnOver))) {
      return { state: 'waiting' };
    }
    const outcome: TurnOutcome =
      cancelled.aborted && held.isHeld
        ? { state: 'cancelled' }
        : failed(turn, error instanceof Error ? error : new Error(String(error)));
    if (outcome.state !== 'waiting') await giveUp(loop, taken);
    return outcome;
  }
}

function isOver(turn: StoredTurn | null): boolean {
  return turn !== null && ['done', 'failed', 'cancelled'].includes(turn.state);
}

/** The last event; `undefined` if the worker left the turn. */
async function readTurn(loop: AgentLoop, taken: TakenTurn): Promise<TurnDone | undefined> {
  const { turn, turns, held, cancelled, left, isHandedOver, onEvent } = taken;
  const { id, sessionId, attachments } = turn;
  const { prompt, untrusted } = await withAnswers(turns, turn);
  const events = loop
    .run({
      sessionId,
      prompt,
      ...(attachments.length > 0 && { attachments: [...attachments] }),
      ...(untrusted && { untrusted }),
      key: id,
      claim: held,
      abortSignal: cancelled,
    })
    [Symbol.asyncIterator]();
  const leave = () => void events.return?.();
  left.addEventListener('abort', leave, { once: true });
  try {
    for (;;) {
      if (left.aborted) return undefined;
      const { value, done } = await events.next();
      if (done === true) return undefined;
      if (value.type === 'done') return value;
      onEvent(value);
      // Between two steps, nothing of the turn runs.
      if (value.type === 'usage' && isHandedOver()) return undefined;
    }
  } finally {
    left.removeEventListener('abort', leave);
    await events.return?.();
  }
}

async function outcomeOf(loop: AgentLoop, done: TurnDone, taken: TakenTurn): Promise<TurnOutcome> {
  const { turn, cancelled, onEvent } = taken;
  if (done.end === 'failed') {
    const error = done.error ?? new EthosError('TURN_INVALID', done.message ?? 'the turn failed');
    const outcome = failed(turn, error);
    if (outcome.state === 'failed') {
      await giveUp(loop, taken);
      onEvent(done);
    }
    return outcome;
  }
  onEvent(done);
  if (done.end === 'paused') return { state: 'paused' };
  if (done.end === 'aborted' && !cancelled.aborted) {
    return { state: 'failed', message: 'the turn was abandoned before it was done' };
  }
  return {
    state: done.end === 'aborted' ? 'cancelled' : 'done',
    answer: takeStart(done.text, MAX_ANSWER_CHARS),
    ...(done.message !== undefined && { message: done.message }),
  };
}

/**
 * Ends the unfinished turn of the session, so that the session can have another one. A turn that was
 * not begun by the fleet stays. If the session can't be read or written now, the next turn of it
 * tries again.
 *
 * @param isMine whether the turn with this key may be ended; when absent, only the taken turn may
 * @returns whether a turn was ended
 */
export async function giveUp(
  loop: AgentLoop,
  { turn: { id, sessionId }, held }: Pick<TakenTurn, 'turn' | 'held'>,
  isMine: (key: string) => boolean | Promise<boolean> = (key) => key === id,
): Promise<boolean> {
  try {
    const key = await openKeyOf(loop, sessionId);
    if (key === undefined || !(await isMine(key))) return false;
    await loop.abandon(sessionId, { claim: held });
    return true;
  } catch {
    return false;
  }
}

function failed(turn: StoredTurn, error: Error): TurnOutcome {
  const attempts = turn.attempts + 1;
  const isLast = attempts >= turn.maxAttempts;
  return {
    state: isLast ? 'failed' : 'waiting',
    isFailure: true,
    delayMs: isLast ? 0 : Math.min(turn.backoffMs * 2 ** (attempts - 1), MAX_BACKOFF_MS),
    message: error.message.slice(0, 1_000),
  };
}
