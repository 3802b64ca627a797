import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FsStorage } from '@ethosagent/storage-fs';
import type { AuditEvent, AuditSink } from '@ethosagent/types';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeTool, ok, runOne } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

const root = mkdtempSync(join(tmpdir(), 'durations-'));
/** Its first answer leads to the second. */
const server = createServer((request, response) => {
  if (request.url === '/') response.writeHead(302, { location: '/end' });
  response.end();
});
let host = '';
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  host = `127.0.0.1:${Object(server.address()).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await once(server.close(), 'close');
  rmSync(root, { recursive: true, force: true });
});

/** What a sink receives for one call, in order. */
async function told(completed: NonNullable<AuditSink['completed']>): Promise<string[]> {
  const lines: string[] = [];
  const events: AuditEvent[] = [];
  const registry = new DefaultToolRegistry({
    storage: new FsStorage(),
    personalityFsReach: { read: [root], write: [root] },
    audit: {
      record(event) {
        events.push(event);
        lines.push(`${event.operation} ${event.decision}`);
      },
      completed(event, durationMs) {
        expect(events).toContain(event);
        expect(durationMs).toBeGreaterThanOrEqual(0);
        lines.push(`${event.operation} over`);
        completed(event, durationMs);
      },
    },
  });
  registry.register(
    makeTool(
      'look',
      async (_args, { scopedFetch, scopedFs, scopedProcess }) => {
        await scopedFs?.read(join(root, 'file'));
        await scopedFs?.read('/etc/passwd').catch(() => {});
        await scopedFetch?.fetch(`http://${host}/`);
        await scopedFetch?.fetch('http://denied.test/').catch(() => {});
        await scopedProcess?.spawn('sleep', ['0.2']);
        return ok('done');
      },
      {
        capabilities: {
          fs_reach: { read: 'from-personality' },
          network: { allowedHosts: [host] },
          process: { allowedBinaries: ['sleep'] },
        },
      },
    ),
  );
  const networkPolicy = { allow: [host] };
  expect(await runOne(registry, 'look', {}, { networkPolicy })).toEqual(ok('done'));
  return lines;
}

const expected = [
  'read allowed',
  'read over',
  'read denied',
  'read over',
  ...['fetch allowed', 'fetch over', 'fetch allowed', 'fetch over', 'fetch denied', 'fetch over'],
  'spawn allowed',
  'spawn over',
];

it('tells a sink when each access is over, and how long it took', async () => {
  writeFileSync(join(root, 'file'), 'text');
  const durations: [operation: string, ms: number][] = [];
  const lines = await told(({ operation }, ms) => durations.push([operation, ms]));
  expect(lines).toEqual(expected);
  // A process counts until it has ended. Timers may fire a little early.
  expect(durations.at(-1)?.[1]).toBeGreaterThan(150);
});

it('goes on when the sink throws at the end of an access', async () => {
  const lines = await told(() => {
    throw new Error('full');
  });
  expect(lines).toEqual(expected);
});
