import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ScopedFetchImpl } from '@ethosagent/core/scoped';
import { sideBySide } from './side-by-side.js';

/** `scopedFetch` beside the global `fetch`, against a server on loopback. */
export async function run(): Promise<void> {
  const bodies = { '1 KB': Buffer.alloc(1024, 'x'), '10 MB': Buffer.alloc(10 * 1024 * 1024, 'x') };
  const server = createServer(({ url }, response) => {
    response.end(url === '/large' ? bodies['10 MB'] : bodies['1 KB']);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const scoped = new ScopedFetchImpl(new Set([`127.0.0.1:${port}`]));
    for (const [label, path, atMost] of [
      ['1 KB', '/small', 1.05],
      ['10 MB', '/large', 0.7],
    ] as const) {
      const url = `http://127.0.0.1:${port}${path}`;
      await sideBySide(`Fetch over loopback, ${label}`, [
        {
          name: 'global fetch',
          operations: 1,
          run: async () => (await fetch(url)).arrayBuffer(),
        },
        {
          name: 'scopedFetch.fetch',
          operations: 1,
          run: async () => (await scoped.fetch(url)).arrayBuffer(),
          goal: { atMost, of: 'global fetch' },
        },
      ]);
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
