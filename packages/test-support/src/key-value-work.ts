import { writeLine } from './write-line.js';

/**
 * The methods of a key-value store that the work uses. It needs `increment` and `compareAndSet`.
 */
interface Store {
  get(key: string): Promise<string | null>;
  set(key: string, value: string): Promise<void>;
  increment?(key: string): Promise<number>;
  compareAndSet?(key: string, expected: string | null, value: string): Promise<boolean>;
}

/**
 * Writes to a store at the same time as other processes: a shared counter, a shared list by
 * compare-and-set, and keys of its own. See `KeyValueProcesses.startCounter`.
 */
export async function countUp(kv: Store, id: string, turns: number): Promise<void> {
  const addToRoll = async (entry: string) => {
    for (;;) {
      const roll = await kv.get('roll');
      const next = roll === null ? entry : `${roll},${entry}`;
      if ((await kv.compareAndSet?.('roll', roll, next)) !== false) return;
    }
  };
  for (let turn = 0; turn < turns; turn++) {
    const key = `${id}:${turn}`;
    await Promise.all([kv.increment?.('counter'), kv.increment?.('counter'), kv.set(key, id)]);
    if (turn % 10 === 0) await addToRoll(key);
  }
}

/**
 * Writes until the process is killed. After each confirmed write, a line is written to the standard
 * output. A kill can't lose it. See
 * `KeyValueProcesses.startWriter`.
 */
export async function writeUntilKilled(kv: Store, id: string): Promise<never> {
  const writeOn = async (lane: number): Promise<never> => {
    for (let turn = 0; ; turn++) {
      const key = `${id}:${lane}:${turn}`;
      await kv.set(key, `value of ${key} ${'x'.repeat((turn % 7) * 500)}`);
      await kv.increment?.('written');
      await writeLine(key);
    }
  };
  return (await Promise.all([0, 1, 2, 3].map(writeOn)))[0] as never;
}
