import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** A site on loopback, as a plain web server gives it. */
export interface ServedSite {
  /** Ends without `/`. */
  origin: string;
  close(): void;
}

export async function serveSite(folder: string): Promise<ServedSite> {
  const server = createServer((request, response) => {
    const path = decodeURI(new URL(request.url ?? '/', 'http://site').pathname);
    const file = join(folder, path.replace(/\/$/, '/index.html'));
    try {
      const body = readFileSync(file);
      response.setHeader('Content-Type', TYPES[extname(file)] ?? 'text/plain; charset=utf-8');
      response.end(body);
    } catch {
      response.writeHead(404).end('there is no such page');
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
