import { setTimeout as delay } from 'node:timers/promises';
import { countTries, tries } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import type { KeyValueBackend } from '../../key-value/key-value-world.js';
import type { RunningScript } from '../run-script.js';

// Few processes with many turns: to start a process takes longer than its turns.
const COUNTERS = tries({ check: 4, long: 8 });
const TURNS = 60;
const KILLED_AT_ONCE = tries({ check: 2, long: 4 });
const SCOPE = 'shared';

/** A new store that several processes use, in the namespace `shared`. */
export interface KeyValueProcesses {
  /** Opens the store in this process. */
  open(): KeyValueBackend | Promise<KeyValueBackend>;
  /**
   * Starts a process that runs a number of turns and then ends with exit code 0. In each turn it
   * sets the key `<id>:<turn>`, and calls `increment` for `counter` twice at once. In every tenth
   * turn it adds an entry to the key `roll`, a list separated by commas, with `compareAndSet`. It
   * leaves out the methods that the store does not have.
   */
  startCounter(id: string, turns: number): RunningScript;
  /**
   * Starts a process that writes until it is killed. Each time it sets a new key that begins with
   * `id` to `value of <key>`, a space and any number of `x`, and then calls `increment` for
   * `written`. After both it prints the key on a line of its own, synchronously.
   */
  startWriter(id: string): RunningScript;
  /** Throws if the store is damaged. Called when no process has the store open. */
  assertWhole?(): void;
}

/** Attacks with several processes on one store, which are killed while they write. */
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
