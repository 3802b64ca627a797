import { setTimeout as delay } from 'node:timers/promises';
import { countTries, tries } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import type { KeyValueBackend } from '../../kv-suite.js';
import type { RunningScript } from '../run-script.js';

// Few processes with many turns: to start a process takes longer than its turns.
const COUNTERS = tries({ check: 4, long: 8 });
const TURNS = 60;
const KILLED_AT_ONCE = tries({ check: 2, long: 4 });
const SCOPE = 'shared';

/** One store, made anew, as several processes use it, in the namespace `shared`. */
export interface KeyValueProcesses {
  /** Opens the store in this process. */
  open(): KeyValueBackend | Promise<KeyValueBackend>;
  /**
   * Starts a process that does so many turns of: set `<id>:<turn>`, and, where the store has it,
   * `increment` `counter` twice at once; and in every tenth turn, add an entry to the list `roll`,
   * separated by commas, by `compareAndSet`. It ends with 0.
   */
  startCounter(id: string, turns: number): RunningScript;
  /**
   * Starts a process that writes until it is killed: `value of <key>`, then a space and any number
   * of `x`, at keys of its own that begin with `id`; and `increment`s `written` after each. After
   * both it prints the key on a line, synchronously.
   */
  startWriter(id: string): RunningScript;
  /** Throws when the store is damaged. Nobody has it open then. */
  assertWhole?(): void;
}

/** Several processes on one store, at work and killed at work. */
export function processAttacks(create: () => KeyValueProcesses): void {
  const rounds = tries({ check: 1, long: 125 });

  describe('of several processes', () => {
    it(`${COUNTERS} that make and write one store at once lose nothing`, async (context) => {
      const store = create();
      const ids = Array.from({ length: COUNTERS }, (_, index) => `p${index}`);
      const counters = ids.map((id) => store.startCounter(id, TURNS));
      context.onTestFinished(() => kill(counters));
      for (const { ended } of counters) expect(await ended).toMatchObject({ code: 0, errors: '' });

      const backend = await store.open();
      const kv = backend.kvStoreFactory('test', SCOPE);
      for (const id of ids) expect(await kv.list(`${id}:`)).toHaveLength(TURNS);
      if (kv.increment !== undefined) {
        expect(await kv.get('counter')).toBe(String(COUNTERS * TURNS * 2));
        expect((await kv.get('roll'))?.split(',')).toHaveLength((COUNTERS * TURNS) / 10);
      }
      await backend.close?.();
      store.assertWhole?.();
      countTries(context, 'key-value', COUNTERS * TURNS * 3);
    });

    it(`${rounds * KILLED_AT_ONCE} that are killed lose nothing that they acknowledged`, async (context) => {
      const store = create();
      let acknowledged = 0;
      for (let round = 0; round < rounds; round++) {
        const writers = Array.from({ length: KILLED_AT_ONCE }, (_, index) =>
          store.startWriter(`${round}.${index}`),
        );
        context.onTestFinished(() => kill(writers));
        const keys = (await Promise.all(writers.map(killAtWork))).flat();
        acknowledged += keys.length;
        // Read after every round, with the files that the killed writers left behind.
        const backend = await store.open();
        const kv = backend.kvStoreFactory('test', SCOPE);
        for (const key of keys) {
          expect((await kv.get(key))?.trimEnd().replace(/ x*$/, '')).toBe(`value of ${key}`);
        }
        if (kv.increment !== undefined) {
          expect(Number(await kv.get('written'))).toBeGreaterThanOrEqual(acknowledged);
        }
        await backend.close?.();
        store.assertWhole?.();
      }
      expect(acknowledged).toBeGreaterThanOrEqual(rounds * KILLED_AT_ONCE);
      countTries(context, 'key-value', acknowledged);
    });
  });
}

/**
 * Waits until a writer has confirmed a write, kills it soon after, and returns what it confirmed.
 */
async function killAtWork({ child, lines, ended }: RunningScript): Promise<string[]> {
  while (lines().length === 0 && child.exitCode === null) await delay(5);
  await delay(Math.random() * 60);
  child.kill('SIGKILL');
  expect(await ended).toMatchObject({ signal: 'SIGKILL', errors: '' });
  return lines();
}

function kill(scripts: readonly RunningScript[]): void {
  for (const { child } of scripts) child.kill('SIGKILL');
}
