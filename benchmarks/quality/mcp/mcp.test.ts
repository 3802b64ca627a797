import { createTestFolder, isLongRun } from '@ethosagent/test-support';
import { afterAll, expect, it } from 'vitest';
import { bridgedClient, officialClient } from './clients.js';
import { contest, TASKS } from './contest.js';

const { dir, remove } = createTestFolder('mcp-calls');
afterAll(remove);

it.runIf(isLongRun())(
  'the bridge and the official client get the same from one server, and both are timed',
  async () => {
    const place = { kind: 'stdio' } as const;
    const clients = {
      official: await officialClient(place),
      followed: await officialClient(place, true),
      bridge: await bridgedClient(place, dir),
    };
    try {
      for (const task of TASKS) {
        const row = await contest(task, clients, { rounds: 2, calls: task.atOnce });
        expect(row.ratio).toBeGreaterThan(0);
      }
    } finally {
      await Promise.all(Object.values(clients).map((client) => client.close()));
    }
  },
);
