import type { NewTurn, StoredTurn, TurnOutcome, TurnStore } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { codeOf } from './code-of.js';
import { HOSTILE_IDS } from './hostile-ids.js';
import { scheduleConformance } from './turn-schedules.js';

/** A turn store to test. */
export interface TurnsUnderTest {
  turns: TurnStore;
  /** Closes the store. */
  close?: () => void | Promise<void>;
}

const LEASE_MS = 1_000;
const DONE: TurnOutcome = { state: 'done' };

/**
 * Registers tests that a turn store keeps the contract of `TurnStore`: each stored turn is taken
 * once, by one worker at a time, in the promised order. Call it in a test file.
 *
 * @param name the name of the store, for the names of the tests
 * @param create creates an empty store for each test, which reads the time, in milliseconds, from
 * `clock`
 */
export function turnConformance(
  name: string,
  create: (options: { clock: () => number }) => TurnsUnderTest | Promise<TurnsUnderTest>,
): void {
  describe(`${name} as a TurnStore`, () => {
    let now = 1_700_000_000_000;
    let subject: TurnsUnderTest;
    let store: TurnStore;

    beforeEach(async () => {
      subject = await create({ clock: () => now });
      store = subject.turns;
    });
    afterEach(() => subject.close?.());

    const put = (id: string, turn: Partial<NewTurn> = {}) =>
      store.put({ id, sessionId: `session of ${id}`, prompt: `do ${id}`, ...turn });
    const take = () => store.take({ leaseMs: LEASE_MS });
    const taken = async (): Promise<StoredTurn> => {
      const turn = await take();
      if (turn === null) throw new Error('nothing is to run');
      return turn;
    };
    /** Takes and settles turns until none is left. Returns their ids in order. */
    const runAll = async (outcome = DONE) => {
      const ids: string[] = [];
      for (let turn = await take(); turn !== null; turn = await take()) {
        ids.push(turn.id);
        await store.settle(turn, outcome);
      }
      return ids;
    };

    describe('put and get', () => {
      it('stores a turn whole, and the same id once', async () => {
        const file = { id: 'f', name: 'a.txt', mediaType: 'text/plain', sizeBytes: 3 };
        const given = { prompt: 'a\0b é', untrusted: true, attachments: [file], tenant: 't' };
        expect(await put('a', { ...given, priority: -3, maxAttempts: 2, backoffMs: 7 })).toBe(true);
        expect(await put('a', { prompt: 'another' })).toBe(false);
        expect(await store.get('a')).toMatchObject({
          ...given,
          id: 'a',
          sessionId: 'session of a',
          priority: -3,
          maxAttempts: 2,
          backoffMs: 7,
          state: 'waiting',
          runAt: now,
          attempts: 0,
          losses: 0,
          taking: 0,
          after: [],
          wasPaused: false,
          isCancelled: false,
        });
        expect(await store.get('b')).toBeNull();
      });

      it('keeps any id apart from the others', async () => {
        for (const id of HOSTILE_IDS)
          expect(await put(id, { sessionId: id, tenant: id })).toBe(true);
        for (const id of HOSTILE_IDS) {
          expect(await store.get(id)).toMatchObject({ id, sessionId: id, tenant: id });
        }
        expect((await runAll()).sort()).toEqual([...HOSTILE_IDS].sort());
      });

      it.each<[string, Partial<NewTurn>]>([
        ['a rate of nothing', { rates: [{ key: 'k', max: 0, perMs: 1 }] }],
        [
          'a rate that is too long a key',
          { rates: [{ key: 'k'.repeat(1_001), max: 1, perMs: 1 }] },
        ],
        ['a rate with a NUL', { rates: [{ key: 'k\0', max: 1, perMs: 1 }] }],
        ['a priority that is no number', { priority: Number.NaN }],
        ['a delay below zero', { delayMs: -1 }],
        ['a turn after itself', { after: ['x'] }],
        ['too many turns before it', { after: Array.from({ length: 1_001 }, (_, n) => `${n}`) }],
      ])('refuses %s', async (_, turn) => {
        expect(await codeOf(put('x', turn))).toBe('VALUE_INVALID');
        expect(await store.get('x')).toBeNull();
      });
    });

    describe('take', () => {
      it('gives each turn to one of many who ask at once', async () => {
        for (let n = 0; n < 8; n++) await put(`${n}`);
        const turns = await Promise.all(Array.from({ length: 12 }, take));
        const ids = turns.flatMap((turn) => turn?.id ?? []);
        expect(ids.sort()).toEqual(Array.from({ length: 8 }, (_, n) => `${n}`));
        expect(await take()).toBeNull();
      });

      it('gives the turns of a session one after the other, in their order', async () => {
        for (const id of ['a', 'b', 'c']) await put(id, { sessionId: 's' });
        await put('first', { sessionId: 's', priority: -1 });
        const a = await taken();
        expect(a.id).toBe('a');
        expect(await take()).toBeNull();
        await store.settle(a, { state: 'paused' });
        expect(await take()).toBeNull();
        await store.wake('s');
        expect(await runAll()).toEqual(['a', 'b', 'c', 'first']);
      });

      it('goes by priority and age within a tenant', async () => {
        await put('late', { priority: 1 });
        await put('a');
        await put('b');
        await put('soon', { priority: -1 });
        expect(await runAll()).toEqual(['soon', 'a', 'b', 'late']);
      });

      it('serves tenants one after the other, whoever has many turns', async () => {
        for (let n = 0; n < 6; n++) await put(`big-${n}`, { tenant: 'big' });
        await put('small-0', { tenant: 'small' });
        await put('small-1', { tenant: 'small' });
        const order = await runAll();
        expect(order.slice(0, 4).sort()).toEqual(['big-0', 'big-1', 'small-0', 'small-1']);
        // A tenant that was away gets nothing extra later, and does not wait either.
        for (let n = 6; n < 9; n++) await put(`big-${n}`, { tenant: 'big' });
        for (let n = 0; n < 3; n++) await put(`new-${n}`, { tenant: 'new' });
        const later = await runAll();
        for (const pair of [later.slice(0, 2), later.slice(2, 4), later.slice(4)]) {
          expect(pair.map((id) => id.split('-')[0]).sort()).toEqual(['big', 'new']);
        }
      });

      it('waits for a delay', async () => {
        await put('later', { delayMs: 500 });
        expect(await store.due()).toEqual({ due: 0, nextInMs: 500 });
        expect(await take()).toBeNull();
        now += 500;
        expect(await store.due()).toMatchObject({ due: 1 });
        expect(await runAll()).toEqual(['later']);
        expect(await store.due()).toEqual({ due: 0 });
      });

      it('begins no more turns of a key than its rate allows, and lets others pass', async () => {
        const rates = [{ key: 'provider', max: 2, perMs: 1_000 }];
        for (let n = 0; n < 5; n++) await put(`r${n}`, { rates });
        await put('free');
        expect((await runAll()).sort()).toEqual(['free', 'r0', 'r1']);
        now += 999;
        expect(await runAll()).toEqual([]);
        now += 1;
        expect(await runAll()).toEqual(['r2', 'r3']);
        now += 1_000;
        expect(await runAll()).toEqual(['r4']);
      });

      it('counts a turn for each of its keys', async () => {
        const [a, b] = ['a', 'b'].map((key) => ({ key, max: 1, perMs: 1_000 }));
        if (a === undefined || b === undefined) throw new Error('two rates');
        await put('both', { rates: [a, b] });
        await put('a', { rates: [a] });
        await put('b', { rates: [b] });
        expect(await runAll()).toEqual(['both']);
        now += 1_000;
        expect(await runAll()).toEqual(['a', 'b']);
      });

      it('gives a turn again whose lease is over, and counts the loss', async () => {
        await put('a');
        const first = await taken();
        now += LEASE_MS - 1;
        expect(await take()).toBeNull();
        now += 1;
        const second = await taken();
        expect(second).toMatchObject({ id: 'a', losses: 1 });
        expect(second.taking).toBeGreaterThan(first.taking);
        // The first worker is too late with everything that it reports.
        expect(await store.settle(first, DONE)).toBeNull();
        expect(await store.addEvents(first, [{ type: 'late' }])).toBe(false);
        expect(await store.extend([first], { leaseMs: LEASE_MS })).toEqual([]);
        expect(await store.settle(second, DONE)).toEqual({ isMore: false });
      });

      it('leaves a turn to who extends it', async () => {
        await put('a');
        const turn = await taken();
        now += LEASE_MS - 1;
        const extended = await store.extend([turn], { leaseMs: LEASE_MS });
        expect(extended).toEqual([{ id: 'a', isCancelled: false }]);
        now += LEASE_MS - 1;
        expect(await take()).toBeNull();
      });

      it('gives a turn once those are over that it comes after', async () => {
        for (const id of ['a', 'b']) await put(id);
        await put('sum', { after: ['a', 'b', 'never stored'], priority: -1 });
        const [a, b] = [await taken(), await taken()];
        expect(await take()).toBeNull();
        expect(await store.due()).toMatchObject({ due: 0 });
        expect(await store.settle(a, { ...DONE, answer: 'of a' })).toEqual({ isMore: true });
        expect(await take()).toBeNull();
        // A turn that failed counts as ended too.
        await store.settle(b, { state: 'failed', message: 'no' });
        expect(await store.due()).toMatchObject({ due: 1 });
        expect(await taken()).toMatchObject({ id: 'sum', after: ['a', 'b', 'never stored'] });
        expect(await store.get('a')).toMatchObject({ state: 'done', answer: 'of a' });
      });
    });

    describe('settle', () => {
      it('says how a turn went, and whether more of its session waits', async () => {
        await put('a', { sessionId: 's' });
        await put('b', { sessionId: 's' });
        const a = await taken();
        const said = { message: 'why\0', answer: 'half of \ud83d' };
        expect(await store.settle(a, { ...DONE, ...said })).toEqual({ isMore: true });
        const { message, answer } = (await store.get('a')) ?? {};
        expect(message).toMatch(/^why.$/s);
        expect(answer).toMatch(/^half of ./s);
        expect(await store.settle(await taken(), DONE)).toEqual({ isMore: false });
        expect(await store.counts()).toMatchObject({ done: 2, waiting: 0, running: 0 });
      });

      it('has a failed turn wait, and counts the failure', async () => {
        await put('a');
        const failure = { isFailure: true, delayMs: 300, message: 'away' };
        await store.settle(await taken(), { state: 'waiting', ...failure });
        expect(await store.get('a')).toMatchObject({
          attempts: 1,
          runAt: now + 300,
          message: 'away',
        });
        expect(await take()).toBeNull();
        now += 300;
        expect(await taken()).toMatchObject({ id: 'a', attempts: 1, losses: 0 });
      });
    });

    describe('wake', () => {
      it('has a paused turn run again, after a delay', async () => {
        await put('a', { sessionId: 's' });
        expect(await store.wake('s')).toBe(false);
        await store.settle(await taken(), { state: 'paused' });
        expect(await store.counts()).toMatchObject({ paused: 1 });
        now += LEASE_MS * 100;
        expect(await take()).toBeNull();
        expect(await store.wake('s', { delayMs: 50 })).toBe(true);
        expect(await take()).toBeNull();
        now += 50;
        expect(await taken()).toMatchObject({ id: 'a', wasPaused: true, losses: 0 });
      });

      it('that comes before the pause is not lost', async () => {
        await put('a', { sessionId: 's' });
        const turn = await taken();
        expect(await store.wake('s')).toBe(true);
        expect(await store.settle(turn, { state: 'paused' })).toEqual({ isMore: true });
        expect(await taken()).toMatchObject({ id: 'a' });
      });
    });

    describe('cancel', () => {
      it('ends a turn that has not begun', async () => {
        await put('a', { delayMs: 1_000 });
        expect(await store.cancel('a')).toBe(true);
        expect(await store.cancel('a')).toBe(false);
        expect(await store.cancel('unknown')).toBe(false);
        now += 1_000;
        expect(await take()).toBeNull();
        expect(await store.get('a')).toMatchObject({ state: 'cancelled' });
      });

      it('tells who runs a turn, and who takes a paused one', async () => {
        await put('runs');
        const turn = await taken();
        expect(await store.cancel('runs')).toBe(true);
        const extended = await store.extend([turn], { leaseMs: LEASE_MS });
        expect(extended).toEqual([{ id: 'runs', isCancelled: true }]);
        await store.settle(turn, { state: 'cancelled' });
        await put('waits');
        await store.settle(await taken(), { state: 'paused' });
        expect(await store.cancel('waits')).toBe(true);
        expect(await taken()).toMatchObject({ id: 'waits', isCancelled: true });
      });
    });

    describe('events', () => {
      it('come in their order, after a position', async () => {
        await put('a', { sessionId: 's' });
        const turn = await taken();
        expect(await store.addEvents(turn, [{ n: 1 }, { n: 2, text: '\0' }])).toBe(true);
        expect(await store.addEvents(turn, [{ n: 3 }])).toBe(true);
        const events = await store.events('s', 0);
        expect(events.map(({ data }) => data)).toEqual([{ n: 1 }, { n: 2, text: '\0' }, { n: 3 }]);
        expect(events.every(({ turnId }) => turnId === 'a')).toBe(true);
        const rest = await store.events('s', events[0]?.position ?? 0);
        expect(rest).toEqual(events.slice(1));
        expect(await store.events('t', 0)).toEqual([]);
      });

      it('go with their turn once that is old', async () => {
        for (const id of ['old', 'open']) await put(id, { sessionId: id });
        const turn = await taken();
        await store.addEvents(turn, [{}]);
        await store.settle(turn, DONE);
        expect(await store.sweep({ olderThanMs: 10 })).toBe(0);
        now += 10;
        expect(await store.sweep({ olderThanMs: 10 })).toBe(1);
        expect(await store.get('old')).toBeNull();
        expect(await store.events('old', 0)).toEqual([]);
        expect(await store.get('open')).toMatchObject({ state: 'waiting' });
      });
    });

    const advance = (ms: number) => {
      now += ms;
    };
    scheduleConformance(() => ({ store, now: () => now, advance }));
  });
}
