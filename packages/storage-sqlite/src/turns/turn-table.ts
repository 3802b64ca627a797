import type { TurnRow } from '@ethosagent/policy';
import type { TurnOutcome, TurnState } from '@ethosagent/types';
import type { Connection } from '../driver/connection.js';
import { IS_FREE, prepareTake } from './take-turn.js';
import { type TurnColumns, turnColumnsOf } from './turn-rows.js';

const OPEN = `('waiting', 'running', 'paused')`;
const MAX_SWEPT = 1_000;

/** Prepares the statements on turns. The caller must run those that write within a transaction. */
export function prepareTurnTable(db: Connection) {
  const { take, dropRates } = prepareTake(db);
  const addTenant = db.prepare<[name: string]>(
    `INSERT INTO tenant AS n (name, served) VALUES (?, (SELECT served FROM clock))
     ON CONFLICT (name) DO UPDATE SET served = CASE
       WHEN EXISTS (SELECT 1 FROM turn WHERE tenant = n.name AND state = 'waiting')
       THEN n.served ELSE max(n.served, excluded.served) END`,
  );
  const add = db.prepare<
    [string, string, string, number, number, number, number, number, string, string]
  >(
    `INSERT INTO turn (id, session_id, tenant, priority, run_at, max_attempts, backoff_ms,
       changed_at, rates, input)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
  );
  const addAfter = db.prepare<[place: number | bigint, id: string]>(
    'INSERT INTO turn_after (turn, id) VALUES (?, ?)',
  );
  const get = db.prepare<[id: string], TurnColumns>(
    `SELECT ${turnColumnsOf(db)} FROM turn AS t WHERE t.id = ?`,
  );
  const extend = db.prepare<[until: number, id: string, taking: number], { isCancelled: number }>(
    `UPDATE turn SET held_until = ? WHERE id = ? AND taking = ? AND state = 'running'
     RETURNING is_cancelled AS isCancelled`,
  );
  const settle = db.prepare<
    [
      string,
      number,
      string,
      number,
      number,
      string,
      string | null,
      string | null,
      number,
      string,
      number,
    ],
    { place: number; sessionId: string; state: TurnState }
  >(
    `UPDATE turn SET
       state = CASE WHEN ? = 'paused' AND wakes <> ? THEN 'waiting' ELSE ? END,
       run_at = ?, attempts = attempts + ?, was_paused = was_paused OR ? = 'paused',
       message = ?, answer = ?, changed_at = ?, held_until = 0
     WHERE id = ? AND taking = ? AND state = 'running'
     RETURNING place, ${db.text('session_id')} AS sessionId, state`,
  );
  const laterWaits = db.prepareColumn<[sessionId: string, place: number], number>(
    `SELECT 1 FROM turn WHERE session_id = ? AND place > ? AND state = 'waiting' LIMIT 1`,
  );
  const afterWaits = db.prepareColumn<[id: string], number>(
    `SELECT 1 FROM turn_after AS a JOIN turn AS t ON t.place = a.turn
     WHERE a.id = ? AND t.state = 'waiting' LIMIT 1`,
  );
  const wake = db.prepare<[runAt: number, sessionId: string]>(
    `UPDATE turn SET wakes = wakes + 1,
       run_at = CASE WHEN state = 'running' THEN run_at ELSE ? END,
       state = CASE WHEN state = 'paused' THEN 'waiting' ELSE state END
     WHERE session_id = ?
       AND (state IN ('running', 'paused') OR state = 'waiting' AND was_paused)`,
  );
  const cancel = db.prepare<[runAt: number, now: number, id: string]>(
    `UPDATE turn SET is_cancelled = 1, wakes = wakes + 1,
       state = CASE WHEN state = 'waiting' AND taking = 0 THEN 'cancelled'
         WHEN state = 'paused' THEN 'waiting' ELSE state END,
       run_at = min(run_at, ?), changed_at = ?
     WHERE id = ? AND state IN ${OPEN}`,
  );
  const due = db.prepareColumn<[waiting: number, running: number], number>(
    `SELECT (SELECT count(*) FROM (SELECT 1 FROM turn AS t
         WHERE t.state = 'waiting' AND t.run_at <= ? AND ${IS_FREE} LIMIT 1000))
       + (SELECT count(*) FROM (SELECT 1 FROM turn
         WHERE state = 'running' AND held_until <= ? LIMIT 1000))`,
  );
  const next = db.prepareColumn<[waiting: number, running: number], number | null>(
    `SELECT min(at) FROM (SELECT min(run_at) AS at FROM turn WHERE state = 'waiting' AND run_at > ?
       UNION ALL SELECT min(held_until) FROM turn WHERE state = 'running' AND held_until > ?)`,
  );
  const counts = db.prepare<[], { state: TurnState; count: number }>(
    'SELECT state, count(*) AS count FROM turn GROUP BY state',
  );
  const running = db.prepare<[id: string, taking: number], { place: number; sessionId: string }>(
    `SELECT place, ${db.text('session_id')} AS sessionId FROM turn
     WHERE id = ? AND taking = ? AND state = 'running'`,
  );
  const addEvent = db.prepare<[sessionId: string, place: number, data: string]>(
    'INSERT INTO event (session_id, turn, data) VALUES (?, ?, ?)',
  );
  const events = db.prepare<
    [sessionId: string, after: number],
    { position: number; turnId: string; data: string }
  >(
    `SELECT e.position AS position, ${db.text('t.id')} AS turnId, ${db.text('e.data')} AS data
     FROM event AS e JOIN turn AS t ON t.place = e.turn
     WHERE e.session_id = ? AND e.position > ? ORDER BY e.position LIMIT 1000`,
  );
  const over = db.prepareColumn<[before: number], number>(
    `SELECT place FROM turn WHERE state IN ('done', 'failed', 'cancelled') AND changed_at <= ?
     ORDER BY changed_at LIMIT ${MAX_SWEPT}`,
  );
  const remove = ['event WHERE turn', 'turn_after WHERE turn', 'turn WHERE place'].map((what) =>
    db.prepare<[place: number]>(`DELETE FROM ${what} = ?`),
  );

  return {
    take,
    put(turn: TurnRow, now: number): boolean {
      const { id, sessionId, tenant, priority, delayMs, maxAttempts, backoffMs } = turn;
      const columns = [priority, now + delayMs, maxAttempts, backoffMs, now] as const;
      addTenant.run(tenant);
      const json = JSON.stringify(turn.rates);
      const added = add.run(id, sessionId, tenant, ...columns, json, turn.input);
      if (Number(added.changes) === 0) return false;
      for (const each of turn.after) addAfter.run(added.lastInsertRowid, each);
      return true;
    },
    get: (id: string) => get.get(id),
    /**
     * Extends the lease. Returns whether the turn is cancelled; `undefined` if this worker no
     * longer has it.
     */
    extend({ id, taking }: { id: string; taking: number }, until: number): boolean | undefined {
      const row = extend.get(until, id, taking);
      return row === undefined ? undefined : row.isCancelled !== 0;
    },
    settle(
      taken: { id: string; taking: number; wakes: number },
      outcome: TurnOutcome,
      now: number,
    ): { isMore: boolean } | null {
      const { id, taking, wakes } = taken;
      const { state, delayMs = 0, isFailure, message = null, answer = null } = outcome;
      const [row] = settle.all(
        ...([state, wakes, state, now + delayMs, isFailure === true ? 1 : 0, state] as const),
        ...([message, answer, now, id, taking] as const),
      );
      if (row === undefined) return null;
      const isMore =
        row.state === 'waiting' ||
        laterWaits.get(row.sessionId, row.place) !== undefined ||
        afterWaits.get(id) !== undefined;
      return { isMore };
    },
    wake: (sessionId: string, runAt: number) => Number(wake.run(runAt, sessionId).changes) > 0,
    cancel: (id: string, now: number) => Number(cancel.run(now, now, id).changes) > 0,
    due: (now: number) => ({
      due: due.get(now, now) ?? 0,
      nextAt: next.get(now, now) ?? undefined,
    }),
    counts: () => counts.all(),
    addEvents(taken: { id: string; taking: number }, events: readonly string[]): boolean {
      const turn = running.get(taken.id, taken.taking);
      if (turn === undefined) return false;
      for (const data of events) addEvent.run(turn.sessionId, turn.place, data);
      return true;
    },
    events: (sessionId: string, after: number) => events.all(sessionId, after),
    sweep(now: number, olderThanMs: number): number {
      dropRates(now);
      const places = over.all(now - olderThanMs);
      for (const place of places) for (const each of remove) each.run(place);
      return places.length;
    },
  };
}
