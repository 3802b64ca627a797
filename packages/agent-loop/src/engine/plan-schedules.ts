import {
  EthosError,
  type NewSchedule,
  type StoredSchedule,
  type TurnStore,
} from '@ethosagent/types';
import { Cron } from 'croner';
import type { Engine } from './engine.js';

/** The next time of a schedule after the given time. @throws `VALUE_INVALID` */
export function nextTime({ cron, timezone = 'UTC' }: NewSchedule, after: number): number {
  const fields = typeof cron === 'string' ? cron.trim().split(/\s+/).length : 0;
  try {
    if (fields !== 5 && fields !== 6) throw new Error('it has five fields, or six');
    const next = new Cron(cron, { timezone, paused: true }).nextRun(new Date(after));
    if (next === null) throw new Error('that time never comes');
    return next.getTime();
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it is none';
    throw new EthosError(
      'VALUE_INVALID',
      `a schedule: the cron ${JSON.stringify(cron)} in ${JSON.stringify(timezone)} is not valid (${why})`,
    );
  }
}

/**
 * Stores the turns of schedules whose time has come, and returns their number. If times passed
 * while no worker ran, there is one turn for all of them. Several processes may do this at once:
 * they store the same turns, since an id consists of the schedule and the time.
 */
export async function planSchedules(fleet: { turns: TurnStore; engine: Engine }): Promise<number> {
  const { now, schedules } = await fleet.turns.dueSchedules();
  let count = 0;
  for (const stored of schedules) {
    // Another machine, which knows more time zones, may have stored it. The others must not wait.
    if (timeProblem(stored.schedule, now) !== undefined) continue;
    if (await plan(stored, now, fleet)) count += 1;
  }
  return count;
}

/** Why this machine can't plan a schedule. */
export function timeProblem(schedule: NewSchedule, after: number): string | undefined {
  try {
    nextTime(schedule, after);
    return undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `the schedule ${JSON.stringify(schedule.id)} is not planned on this machine: ${why}`;
  }
}

async function plan(
  { schedule, nextAt, lastAt }: StoredSchedule,
  now: number,
  { turns, engine }: { turns: TurnStore; engine: Engine },
): Promise<boolean> {
  const { id, cron: _, timezone: __, sessionId, ...turn } = schedule;
  const isLeftOut =
    sessionId !== undefined && lastAt !== undefined && (await isOpen(turns, turnIdOf(id, lastAt)));
  const isNow = nextAt !== undefined && !isLeftOut;
  if (isNow) {
    const turnId = turnIdOf(id, nextAt);
    await turns.put({ ...turn, id: turnId, sessionId: sessionId ?? turnId });
  }
  const to = nextTime(schedule, now);
  if (!(await turns.moveSchedule(id, { from: nextAt, to, isLeftOut }))) return isNow;
  const wake = { id: `schedule ${id}`, taking: to, sessionId: id, delayMs: to - now, priority: 0 };
  // If this is lost, the sweep of the workers finds the turn.
  await engine.enqueue(wake).catch(() => {});
  return isNow;
}

function turnIdOf(schedule: string, at: number): string {
  return `${schedule}@${new Date(at).toISOString()}`;
}

async function isOpen(turns: TurnStore, id: string): Promise<boolean> {
  const turn = await turns.get(id);
  return turn !== null && ['waiting', 'running', 'paused'].includes(turn.state);
}
