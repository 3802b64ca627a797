import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { NetworkPolicy, ScopedFetch } from '@ethosagent/types';
import { expect } from 'vitest';

/** What a `ScopedFetch` is to be held to. */
export interface FetchRules {
  /** The host patterns that the tool declares. */
  allowedHosts: string[];
  /** The operator's policy. */
  policy: NetworkPolicy;
  /** All addresses of a name. Nobody else is to be asked. */
  lookup: (hostname: string) => Promise<readonly { address: string }[]>;
}

/** A `ScopedFetch` under attack. */
export interface AttackedFetch {
  scopedFetch: ScopedFetch;
  /** Called when the test is over. */
  close?(): void | Promise<void>;
}

/** Makes a `ScopedFetch` that is held to these rules. */
export type CreateFetch = (rules: FetchRules) => AttackedFetch | Promise<AttackedFetch>;

/** A server on loopback that counts requests and connections. */
export interface CountingServer {
  readonly port: number;
  readonly connections: number;
  readonly open: number;
  close(): Promise<void>;
}

/** Answers requests on 127.0.0.1, and on ::1 if the machine has it. */
export function startServer(
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<CountingServer> {
  return listen(() => createServer((request, response) => void answer(request, response)));
}

/** Accepts connections, and never answers. Nobody may ever connect to it. */
export function startCanary(): Promise<CountingServer> {
  return listen(() => createTcpServer((socket) => void socket.resume()));
}

async function listen(create: () => Server): Promise<CountingServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const onConnection = (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  };
  const servers = [create()];
  const port = await bind(servers[0], 0, '127.0.0.1');
  const second = create();
  try {
    await bind(second, port, '::1');
    servers.push(second);
  } catch {
    // The machine has no IPv6, or another program uses the port there.
  }
  for (const server of servers) server.on('connection', onConnection);
  return {
    port,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
    },
  };
}

function bind(server: Server | undefined, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server?.once('error', reject);
    server?.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

/** A resolver that resolves every name to this machine. */
export const toLoopback = async () => [{ address: '127.0.0.1' }];

/** The error with which a promise rejects. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it was not refused');
}

export const isDenied = expect.objectContaining({ code: 'HOST_NOT_ALLOWED' });

/** Waits until a condition holds. If it never does, the test's own time limit ends the wait. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
