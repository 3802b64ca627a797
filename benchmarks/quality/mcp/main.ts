import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bridgedClient, officialClient, type Place } from './clients.js';
import { contest, TASKS } from './contest.js';
import { everythingOverHttp } from './servers.js';

// Usage: tsx benchmarks/quality/mcp/main.ts [rounds, 100 when absent]
const rounds = Number(process.argv[2] ?? 100);
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mcp-calls-')));
const server = await everythingOverHttp();
const places: [string, Place][] = [
  ['stdio', { kind: 'stdio' }],
  ['streamable HTTP', { kind: 'http', url: server.url }],
];
try {
  console.log(
    '| transport | call | official client, ms | the same, followed, ms | bridge, ms | ratio |',
  );
  for (const [name, place] of places) {
    const clients = {
      official: await officialClient(place),
      followed: await officialClient(place, true),
      bridge: await bridgedClient(place, folder),
    };
    try {
      for (const task of TASKS) {
        const row = await contest(task, clients, { rounds, calls: 48 });
        const cells = [row.officialMs, row.followedMs, row.bridgeMs, row.ratio].map((cell) =>
          cell.toFixed(2),
        );
        console.log(`| ${[name, row.task, ...cells].join(' | ')} |`);
      }
    } finally {
      await Promise.all(Object.values(clients).map((client) => client.close()));
    }
  }
} finally {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
}
