import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createFilteringProxy, type NetworkGuard } from '@ethosagent/safety-network';
import type { AccessScope } from '../access.js';
import { auditedProxy } from './audited-proxy.js';
import { isAlive } from './process-tree.js';

/** A way out of a sandbox: a unix socket, behind which a guard holds. */
export interface WayOut {
  socketPath: string;
  close(): Promise<void>;
}

// No sandbox sees it.
const SOCKETS = '/dev/shm';
let swept: Promise<void> | undefined;

/** Removes what hosts left that were killed. */
async function sweep(): Promise<void> {
  for (const name of await readdir(SOCKETS)) {
    const pid = /^ethos-proxy-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    await rm(join(SOCKETS, name), { recursive: true, force: true }).catch(() => {});
  }
}

/** Opens a way out for the sandboxes of one call. Each request is an access of that call. */
export async function openWayOut(guard: NetworkGuard, scope: AccessScope): Promise<WayOut> {
  // Who can connect needs no credential. Only this user can enter the folder, and no sandbox: each
  // has a `/dev` of its own, whatever its reach.
  swept ??= sweep();
  await swept;
  const folder = await mkdtemp(join(SOCKETS, `ethos-proxy-${process.pid}-`));
  const remove = () => rm(folder, { recursive: true, force: true });
  const socketPath = join(folder, 'proxy');
  try {
    const proxy = await createFilteringProxy({
      ...auditedProxy(guard, scope),
      socketPath,
    });
    return {
      socketPath,
      async close() {
        await proxy.close();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Where a sandbox has the socket. */
export const SOCKET_IN_SANDBOX = '/run/ethos/proxy';

/**
 * A program that runs a command with a proxy on a port of the sandbox's own loopback, and forwards
 * what comes there to the socket: `node -e FORWARDER <socket> <command> <arguments>`.
 */
export const FORWARDER = `
const net = require('node:net');
const { spawn } = require('node:child_process');
const { signals } = require('node:os').constants;
const [path, command, ...args] = process.argv.slice(1);
const server = net.createServer({ allowHalfOpen: true }, (client) => {
  const out = net.connect({ path, allowHalfOpen: true });
  client.on('error', () => out.destroy()).on('close', () => out.destroy());
  out.on('error', () => client.destroy()).on('close', () => client.destroy());
  client.pipe(out).pipe(client);
});
server.listen(0, '127.0.0.1', () => {
  const url = 'http://127.0.0.1:' + server.address().port;
  const env = { ...process.env, NODE_USE_ENV_PROXY: '1' };
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY']) {
    env[name] = env[name.toLowerCase()] = name === 'NO_PROXY' ? '' : url;
  }
  spawn(command, args, { stdio: 'inherit', env })
    .on('error', () => process.exit(127))
    .on('exit', (code, signal) => process.exit(code ?? 128 + signals[signal]));
});
`;
