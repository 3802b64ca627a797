import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { NetworkPolicy, ScopedFetch } from '@ethosagent/types';
import { expect } from 'vitest';

/** The rules that a `ScopedFetch` must enforce. */
export interface FetchRules {
  /** The host patterns that the tool declares. */
  allowedHosts: string[];
  /** The operator's policy. */
  policy: NetworkPolicy;
  /** Returns all addresses of a name. The `ScopedFetch` must use no other resolver. */
  lookup: (hostname: string) => Promise<readonly { address: string }[]>;
}

/** A `ScopedFetch` under attack. */
export interface AttackedFetch {
  scopedFetch: ScopedFetch;
  /** Closes what the test used. Called after the test. */
  close?(): void | Promise<void>;
}

/** Creates a `ScopedFetch` that enforces the given rules. */
export type CreateFetch = (rules: FetchRules) => AttackedFetch | Promise<AttackedFetch>;

/** A server on loopback that counts requests and connections. */
export interface CountingServer {
  readonly port: number;
  readonly connections: number;
  readonly open: number;
  close(): Promise<void>;
}

/** Starts a server that answers requests on 127.0.0.1, and on ::1 if the machine has it. */
export function startServer(
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<CountingServer> {
  return listen(() => createServer((request, response) => void answer(request, response)));
}

/** Starts a server that accepts connections and never answers. Nobody may ever connect to it. */
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

/** Returns the error with which a promise rejects. Throws if the promise does not reject. */
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
