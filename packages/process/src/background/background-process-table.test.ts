import { expect, it } from 'vitest';
import { BackgroundProcessTable } from './background-process-table.js';

it('keeps 64 ended processes over all sessions where nothing else is asked for', async () => {
  const table = new BackgroundProcessTable(8);
  const ended = Promise.resolve();
  const ids = Array.from({ length: 66 }, (_, at) => `s${at}`);
  for (const id of ids) {
    const held = await table.open(id).start({
      binary: 'true',
      args: [],
      personalityId: undefined,
      scope: { redactor: undefined, abort: () => {}, end: () => {} },
      now: Date.now,
      launch: async () => ({
        input: undefined,
        result: Promise.resolve({ stdout: '', stderr: '', exitCode: 0 }),
        stop: () => {},
        started: ended,
        closed: ended,
      }),
    });
    await held.gone;
  }
  const kept = () => ids.filter((id) => (table.find(id)?.list().length ?? 0) > 0);
  expect(kept()).toEqual(ids.slice(2));
});
