import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** The servers of a soak: one that tools may reach and that misbehaves, and one that none may. */
export interface Servers {
  port: number;
  /** Where nobody may go: another address of this machine. */
  canaryOrigin: string;
  /** Connections to the canary so far. */
  canaryConnections(): number;
  /** Sockets that the servers have open. */
  openSockets(): number;
  close(): Promise<void>;
}

const CANARY_ADDRESS = '127.0.0.2';

export async function startServers(): Promise<Servers> {
  const sockets = new Set<Socket>();
  let canaryConnections = 0;
  const canary = await listen(
    createServer((_, response) => response.end('CANARY')),
    CANARY_ADDRESS,
  );
  canary.server.on('connection', () => {
    canaryConnections += 1;
  });
  const canaryOrigin = `http://${CANARY_ADDRESS}:${canary.port}`;
  const main = await listen(
    createServer((request, response) => answer(request, response, canaryOrigin)),
    '127.0.0.1',
  );
  for (const { server } of [main, canary]) {
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    });
  }
  return {
    port: main.port,
    canaryOrigin,
    canaryConnections: () => canaryConnections,
    openSockets: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy();
      for (const { server } of [main, canary]) await new Promise((done) => server.close(done));
    },
  };
}

async function listen(server: Server, address: string) {
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const { port } = server.address() as AddressInfo;
  return { server, port };
}

function answer(request: IncomingMessage, response: ServerResponse, canary: string): void {
  request.on('error', () => {});
  response.on('error', () => {});
  request.resume();
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x');
  switch (pathname) {
    case '/slow':
      trickle(response, 20);
      return;
    case '/hang':
      return;
    case '/reset':
      request.socket.destroy();
      return;
    case '/half':
      response.writeHead(200, { 'content-length': '1000' });
      response.write('half');
      setTimeout(() => request.socket.destroy(), 5);
      return;
    case '/flood':
      flood(response);
      return;
    case '/out':
      response.writeHead(302, { location: `${canary}/taken` }).end();
      return;
    case '/out-by-name':
      response.writeHead(307, { location: `http://canary.example:${new URL(canary).port}/` }).end();
      return;
    case '/loop':
      response.writeHead(301, { location: '/loop' }).end();
      return;
    case '/status':
      response.writeHead(503).end('busy');
      return;
    default:
      // The answer names its caller, so that mixed-up answers are found.
      response.end(`echo ${searchParams.get('say') ?? ''}`);
  }
}

function trickle(response: ServerResponse, bytes: number): void {
  let sent = 0;
  const timer = setInterval(() => {
    sent += 1;
    if (sent < bytes) response.write('.');
    else {
      clearInterval(timer);
      response.end();
    }
  }, 15);
  response.on('close', () => clearInterval(timer));
}

function flood(response: ServerResponse): void {
  const chunk = Buffer.alloc(64 * 1024, 'f');
  const send = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', send);
  send();
}
