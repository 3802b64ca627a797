import { clearInterval, setInterval } from 'node:timers';
import type { Database } from '../database/database.js';

const INTERVAL_MS = 60_000;

/** The most rows that one sweep removes. */
const SWEEP_BATCH = 500;

/**
 * Removes expired rows regularly, in small batches. Skips rows that another process is changing.
 * Does not keep the process alive.
 */
export function startSweeper(database: Database): { stop: () => Promise<void> } {
  const statement = {
    name: 'ethos_key_value_sweep',
    isRepeatable: true,
    text: `DELETE FROM ${database.schema}.key_value WHERE (scope_digest, key_digest) IN (
        SELECT scope_digest, key_digest FROM ${database.schema}.key_value
        WHERE expires_at <= ${database.schema}.moment(NULL)
        ORDER BY expires_at LIMIT ${SWEEP_BATCH} FOR UPDATE SKIP LOCKED)
      RETURNING 1 AS gone`,
  };
  let sweeping: Promise<void> | undefined;

  async function sweep(): Promise<void> {
    try {
      let gone: number;
      do gone = (await database.run(statement, [])).length;
      while (gone === SWEEP_BATCH);
    } catch {
      // The next round tries again. If the store can't be written, those who write get the error.
    }
  }

  const timer = setInterval(() => {
    sweeping ??= sweep().finally(() => {
      sweeping = undefined;
    });
  }, INTERVAL_MS);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await sweeping;
    },
  };
}
