import type { Connection } from '../driver/connection.js';
import { ratesOf, type TurnColumns, turnColumnsOf } from './turn-rows.js';

/**
 * True if no other turn has to come before `t`: neither an earlier turn of its session, nor one
 * that it must follow.
 */
export const IS_FREE = `NOT EXISTS (SELECT 1 FROM turn AS o
    WHERE o.session_id = t.session_id AND o.place < t.place
      AND o.state IN ('waiting', 'running', 'paused'))
  AND NOT EXISTS (SELECT 1 FROM turn_after AS a JOIN turn AS o ON o.id = a.id
    WHERE a.turn = t.place AND o.state IN ('waiting', 'running', 'paused'))`;

/**
 * Prepares the statements that take the next turn, within a transaction of the caller. A tenant
 * that returns after a pause gets no extra turns for the time in which it had none.
 */
export function prepareTake(db: Connection) {
  const columns = turnColumnsOf(db);
  const byPlace = db.prepare<[place: number], TurnColumns>(
    `SELECT ${columns} FROM turn AS t WHERE t.place = ?`,
  );
  const lost = db.prepareColumn<[now: number], number>(
    `SELECT place FROM turn WHERE state = 'running' AND held_until <= ?
     ORDER BY held_until LIMIT 1`,
  );
  const takeLost = db.prepare<[until: number, now: number, place: number]>(
    `UPDATE turn SET held_until = ?, taking = taking + 1, losses = losses + 1, changed_at = ?
     WHERE place = ?`,
  );
  const take = db.prepare<[until: number, now: number, place: number]>(
    `UPDATE turn SET state = 'running', held_until = ?, taking = taking + 1, changed_at = ?
     WHERE place = ?`,
  );
  const tenants = db.prepare<[], { name: string; served: number }>(
    `SELECT ${db.text('n.name')} AS name, n.served AS served FROM tenant AS n
     WHERE EXISTS (SELECT 1 FROM turn AS t WHERE t.tenant = n.name AND t.state = 'waiting')
     ORDER BY n.served`,
  );
  const firstOf = db.prepare<[tenant: string, now: number], TurnColumns>(
    `SELECT ${columns} FROM turn AS t
     WHERE t.tenant = ? AND t.state = 'waiting' AND t.run_at <= ? AND ${IS_FREE}
     ORDER BY t.priority, t.place LIMIT 1`,
  );
  const rate = db.prepare<[key: string], { endsAt: number; used: number }>(
    'SELECT ends_at AS endsAt, used FROM rate WHERE key = ?',
  );
  const spend = db.prepare<[key: string, endsAt: number, used: number]>(
    `INSERT INTO rate (key, ends_at, used) VALUES (?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET ends_at = excluded.ends_at, used = excluded.used`,
  );
  const dropRates = db.prepare<[now: number]>('DELETE FROM rate WHERE ends_at <= ?');
  const delay = db.prepare<[until: number, place: number]>(
    'UPDATE turn SET run_at = ? WHERE place = ?',
  );
  const serve = db.prepare<[served: number, name: string]>(
    'UPDATE tenant SET served = ? WHERE name = ?',
  );
  const setClock = db.prepare<[served: number]>('UPDATE clock SET served = max(served, ?)');

  /** The first turn of each tenant. Among these, the turn of the tenant that was served least. */
  function next(now: number): { turn: TurnColumns; served: number } | undefined {
    let best: { turn: TurnColumns; served: number } | undefined;
    for (const { name, served } of tenants.all()) {
      if (best !== undefined && served > best.served) break;
      const turn = firstOf.get(name, now);
      if (turn === undefined) continue;
      if (best === undefined || turn.place < best.turn.place) best = { turn, served };
    }
    return best;
  }

  /** Returns when the rates of a turn allow it to begin; `undefined` if they already do. */
  function waitsUntil(turn: TurnColumns, now: number): number | undefined {
    const full = ratesOf(turn).flatMap(({ key, max }) => {
      const known = rate.get(key);
      return known !== undefined && known.endsAt > now && known.used >= max ? [known.endsAt] : [];
    });
    return full.length === 0 ? undefined : Math.max(...full);
  }

  function spendRates(turn: TurnColumns, now: number): void {
    const rates = new Map(ratesOf(turn).map(({ key, perMs }) => [key, perMs]));
    for (const [key, perMs] of rates) {
      const known = rate.get(key);
      const goesOn = known !== undefined && known.endsAt > now;
      spend.run(key, goesOn ? known.endsAt : now + perMs, goesOn ? known.used + 1 : 1);
    }
  }

  return {
    take(now: number, leaseMs: number): TurnColumns | undefined {
      const place = lost.get(now);
      if (place !== undefined) {
        takeLost.run(now + leaseMs, now, place);
        return byPlace.get(place);
      }
      for (;;) {
        const found = next(now);
        if (found === undefined) return undefined;
        const { turn, served } = found;
        const until = waitsUntil(turn, now);
        if (until !== undefined) {
          delay.run(until, turn.place);
          continue;
        }
        spendRates(turn, now);
        serve.run(served + 1, turn.tenant);
        setClock.run(served);
        take.run(now + leaseMs, now, turn.place);
        return byPlace.get(turn.place);
      }
    },
    dropRates(now: number): void {
      dropRates.run(now);
    },
  };
}
