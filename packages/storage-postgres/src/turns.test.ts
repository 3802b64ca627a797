import { turnConformance } from '@ethosagent/conformance';
import { isLongRun, newPostgresDatabase } from '@ethosagent/test-support';
import { PATIENT_POSTGRES } from '@ethosagent/test-support/patience';
import type { TurnStore } from '@ethosagent/types';
import pg from 'pg';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createPostgresTurns } from './turns/postgres-turns.js';

const url = await newPostgresDatabase();
let now = () => 0;
const { store, close } = await createPostgresTurns({
  url,
  clock: () => now(),
  ...PATIENT_POSTGRES,
}).open();
const client = new pg.Client(url);
await client.connect();
afterAll(() => Promise.all([close(), client.end()]));

async function newTurns({ clock }: { clock: () => number }): Promise<{ turns: TurnStore }> {
  now = clock;
  await client.query(`
    TRUNCATE ethos.turn, ethos.turn_event, ethos.turn_tenant, ethos.turn_rate, ethos.turn_schedule;
    UPDATE ethos.turn_clock SET served = 0`);
  return { turns: store };
}

// In a check, SQLite runs the whole suite, and the test below covers PostgreSQL's own statements.
if (isLongRun()) turnConformance('createPostgresTurns', newTurns);

describe('createPostgresTurns', () => {
  const LEASE_MS = 1_000;
  let time = 1_700_000_000_000;
  const take = () => store.take({ leaseMs: LEASE_MS });
  /** Several workers take turns at the same time. Each one settles what it took. */
  const runAll = async () => {
    const ids: string[] = [];
    const run = async () => {
      for (let turn = await take(); turn !== null; turn = await take()) {
        ids.push(turn.id);
        expect(await store.settle(turn, { state: 'done' })).not.toBeNull();
      }
    };
    await Promise.all([run(), run(), run()]);
    return ids;
  };
  beforeEach(() => newTurns({ clock: () => time }));

  it('gives each turn once, tenants in their order, within the rates', async () => {
    const rates = [{ key: 'k', max: 1, perMs: 100 }];
    for (let n = 0; n < 4; n++) {
      await store.put({ id: `big-${n}`, sessionId: `${n}`, tenant: 'big', prompt: 'p' });
    }
    await store.put({ id: 'small', sessionId: 's', tenant: 'small', prompt: 'p' });
    for (const id of ['r1', 'r2']) await store.put({ id, sessionId: id, prompt: 'p', rates });
    const taken = [await take(), await take(), await take()].map((turn) => turn?.id);
    expect(taken.sort()).toEqual(['big-0', 'r1', 'small']);
    expect((await runAll()).sort()).toEqual(['big-1', 'big-2', 'big-3']);
    time += 100;
    expect(await runAll()).toEqual(['r2']);
  });

  it('gives a turn again whose lease is over, and hears nothing of who is late', async () => {
    await store.put({ id: 'a', sessionId: 's', prompt: 'p' });
    await store.put({ id: 'b', sessionId: 's', prompt: 'p', after: ['a'] });
    const late = await take();
    expect(await take()).toBeNull();
    time += LEASE_MS;
    const turn = await take();
    if (late === null || turn === null) throw new Error('nothing is to run');
    expect(turn).toMatchObject({ id: 'a', losses: 1 });
    expect(await store.settle(late, { state: 'done' })).toBeNull();
    expect(await store.addEvents(late, [{ n: 0 }])).toBe(false);
    expect(await store.addEvents(turn, [{ n: 1 }])).toBe(true);
    expect(await store.wake('s')).toBe(true);
    expect(await store.settle(turn, { state: 'paused' })).toEqual({ isMore: true });
    expect(await store.cancel('b')).toBe(true);
    expect(await runAll()).toEqual(['a']);
    expect((await store.events('s', 0)).map(({ data }) => data)).toEqual([{ n: 1 }]);
    expect(await store.counts()).toMatchObject({ done: 1, cancelled: 1, waiting: 0 });
  });

  it('waits for the disk with all but a take', async () => {
    await client.query(`
      CREATE TABLE public.seen (place serial, setting text);
      CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO public.seen (setting)
          VALUES (TG_OP || ' ' || current_setting('synchronous_commit')); RETURN NULL; END $$;
      CREATE TRIGGER note AFTER INSERT OR UPDATE ON ethos.turn EXECUTE FUNCTION public.note()`);
    await store.put({ id: 'a', sessionId: 's', prompt: 'p' });
    const turn = await take();
    if (turn === null) throw new Error('nothing is to run');
    await store.extend([turn], { leaseMs: LEASE_MS });
    await store.settle(turn, { state: 'done' });
    const { rows } = await client.query('SELECT setting FROM public.seen ORDER BY place');
    expect(rows.map(({ setting }) => setting)).toEqual([
      'INSERT on',
      'UPDATE off',
      'UPDATE on',
      'UPDATE on',
    ]);
    await client.query('DROP TRIGGER note ON ethos.turn');
  });

  it('moves a schedule on once for each time', async () => {
    await store.putSchedule({ id: 'daily', prompt: 'p', cron: '0 9 * * *' });
    await store.moveSchedule('daily', { from: undefined, to: time });
    expect((await store.dueSchedules()).schedules).toMatchObject([{ nextAt: time }]);
    const move = () => store.moveSchedule('daily', { from: time, to: time + 1 });
    expect((await Promise.all([move(), move()])).sort()).toEqual([false, true]);
  });
});
