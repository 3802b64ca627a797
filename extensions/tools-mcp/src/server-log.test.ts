import { expect, it } from 'vitest';
import { logReader, type McpLogEntry } from './server-log.js';

it('a flood of log entries is cut off, and what was left out is counted', () => {
  const entries: McpLogEntry[] = [];
  let now = 0;
  const read = logReader(
    (entry) => entries.push(entry),
    { server: 's', personality: undefined },
    { redact: (text) => text, now: () => now },
  );
  const log = (count: number) => {
    for (let at = 0; at < count; at++) {
      read({
        method: 'notifications/message',
        params: { level: 'info', data: { deep: ['x'.repeat(5_000)] } },
      });
    }
  };
  log(1_000);
  expect(entries).toHaveLength(200);
  expect(entries[0]?.text.length).toBeLessThanOrEqual(2_010);
  now += 1_000;
  log(1_000);
  expect(entries).toHaveLength(220);
  expect(entries[200]).toMatchObject({ dropped: 800 });
  expect(entries[201]).not.toHaveProperty('dropped');
});

it('an entry whose data was too long to be read is counted', () => {
  const entries: McpLogEntry[] = [];
  const read = logReader(
    (entry) => entries.push(entry),
    { server: 's', personality: undefined },
    { redact: (text) => text },
  );
  for (const data of [undefined, undefined, 'short']) {
    read({ method: 'notifications/message', params: { level: 'info', data } });
  }
  expect(entries).toMatchObject([{ text: 'short', dropped: 2 }]);
});

it('what a listener throws reaches nobody', () => {
  const read = logReader(
    () => {
      throw new TypeError('x');
    },
    { server: 's', personality: undefined },
    { redact: (text) => text },
  );
  read({ method: 'notifications/message', params: { level: 'info', data: 'x' } });
});
