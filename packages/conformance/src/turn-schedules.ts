import { errorCodeOf, type NewSchedule, type TurnStore } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';

interface Place {
  store: TurnStore;
  now: () => number;
  advance: (ms: number) => void;
}

/** Registers the tests of `turnConformance` about schedules. */
export function scheduleConformance(place: () => Place): void {
  const daily: NewSchedule = { id: 'daily', prompt: 'Sum up.', cron: '0 9 * * *' };

  describe('schedules', () => {
    it('are to be planned when they are new or other ones', async () => {
      const { store, now } = place();
      expect(await store.putSchedule(daily)).toBe(true);
      expect(await store.dueSchedules()).toEqual({ now: now(), schedules: [{ schedule: daily }] });
      expect(await store.due()).toMatchObject({ due: 1 });
      expect(await store.moveSchedule('daily', { from: undefined, to: now() + 100 })).toBe(true);
      // Stored again, as each machine does when it starts.
      expect(await store.putSchedule(daily)).toBe(false);
      expect(await store.schedules()).toEqual([{ schedule: daily, nextAt: now() + 100 }]);
      expect(await store.putSchedule({ ...daily, timezone: 'Europe/Vienna' })).toBe(true);
      expect((await store.dueSchedules()).schedules).toHaveLength(1);
    });

    it('are moved on once for each time', async () => {
      const { store, now, advance } = place();
      await store.putSchedule(daily);
      const first = now() + 100;
      await store.moveSchedule('daily', { from: undefined, to: first });
      expect(await store.due()).toEqual({ due: 0, nextInMs: 100 });
      expect(await store.dueSchedules()).toEqual({ now: now(), schedules: [] });
      advance(100);
      const { schedules } = await store.dueSchedules();
      expect(schedules).toEqual([{ schedule: daily, nextAt: first }]);
      const moves = await Promise.all(
        Array.from({ length: 4 }, () =>
          store.moveSchedule('daily', { from: first, to: first + 1_000 }),
        ),
      );
      expect(moves.filter(Boolean)).toHaveLength(1);
      const next = first + 1_000;
      expect(await store.schedules()).toEqual([{ schedule: daily, nextAt: next, lastAt: first }]);
      await store.moveSchedule('daily', { from: next, to: next + 1, isLeftOut: true });
      expect(await store.schedules()).toMatchObject([{ nextAt: next + 1, lastAt: first }]);
    });

    it('are there until they are deleted', async () => {
      const { store } = place();
      await store.putSchedule(daily);
      await store.putSchedule({ ...daily, id: 'a\0', sessionId: 's', prompt: 'a\0' });
      expect(await store.deleteSchedule('daily')).toBe(true);
      expect(await store.deleteSchedule('daily')).toBe(false);
      expect(await store.schedules()).toMatchObject([{ schedule: { id: 'a\0', prompt: 'a\0' } }]);
      expect(await store.moveSchedule('daily', { from: undefined, to: 1 })).toBe(false);
    });

    it('are held to the rules of turns', async () => {
      const { store } = place();
      const bad = store.putSchedule({ ...daily, priority: 0.5 });
      expect(await bad.then(() => 'done', errorCodeOf)).toBe('VALUE_INVALID');
    });
  });
}
