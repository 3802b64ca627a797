import { createServer, type RequestListener } from 'node:http';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';

/** A server on loopback that counts its connections. */
export interface LoopbackServer {
  readonly port: number;
  /** Contains the address: `http://127.0.0.1:<port>`. */
  readonly origin: string;
  /** How many connections there were so far. */
  readonly connections: number;
  /** How many connections are open. */
  readonly open: number;
  close(): Promise<void>;
}

export function startServer(listener: RequestListener): Promise<LoopbackServer> {
  return listen(createServer(listener));
}

export function startTcpServer(onSocket: (socket: Socket) => void): Promise<LoopbackServer> {
  return listen(
    createTcpServer((socket) => {
      onSocket(socket);
      // A socket that is not read does not notice its end.
      socket.resume();
    }),
  );
}

async function listen(server: Server): Promise<LoopbackServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Waits until a condition holds. If it never does, the test's own time limit ends the wait. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** A resolver that resolves every name to this machine. */
export const loopbackLookup = async () => [{ address: '127.0.0.1' }];

/** The error with which a promise rejects, or `undefined`. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    return error;
  }
}
