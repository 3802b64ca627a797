import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PAGES } from './pages.js';

/** The site of the tasks, on loopback, and what was sent to it. */
export interface Site {
  origin: string;
  host: string;
  /** The bodies and queries that `/sent` got. */
  sent: string[];
  close(): Promise<void>;
}

export async function serveSite(): Promise<Site> {
  const sent: string[] = [];
  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://host');
    if (pathname === '/sent') {
      void bodyOf(request).then((body) => {
        sent.push(body === '' ? search : body);
        response.writeHead(200, { 'content-type': 'text/html' });
        response.end('<title>Sent</title><p>Thank you, it was received.</p>');
      });
      return;
    }
    if (pathname === '/api/orders') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ orders: [{ id: 'A-1017', total: 129.5 }] }));
      return;
    }
    if (pathname === '/report.txt') {
      response.writeHead(200, {
        'content-type': 'text/plain',
        'content-disposition': 'attachment; filename="report.txt"',
      });
      response.end('quarter,sum\n1,4200\n');
      return;
    }
    const page = PAGES[pathname];
    response.writeHead(page === undefined ? 404 : 200, {
      'content-type': 'text/html; charset=utf-8',
    });
    response.end(page ?? 'nothing here');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    sent,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}
