import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../process-tree.js';

/** A socket of the host. A proxy listens on it for the sandboxes of one call. */
export interface ProxySocket {
  path: string;
  /** Ends the proxy, and removes the socket. */
  close(): Promise<void>;
}

/** The folder of the sockets. No sandbox may show it. */
const SOCKETS = process.platform === 'linux' ? '/dev/shm' : tmpdir();
let swept: Promise<void> | undefined;

/** Removes sockets of hosts that were killed. */
async function sweep(): Promise<void> {
  for (const name of await readdir(SOCKETS)) {
    const pid = /^ethos-proxy-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    await rm(join(SOCKETS, name), { recursive: true, force: true }).catch(() => {});
  }
}

/**
 * Opens a socket that only the host and the sandboxes that get it can reach.
 *
 * @param listen starts the proxy on the socket at the path
 * @returns the path of the socket, and `close`, which ends the proxy and removes the socket
 * @throws the error of `listen`; then the socket is removed
 */
export async function openProxySocket(
  listen: (path: string) => Promise<{ close(): Promise<void> }>,
): Promise<ProxySocket> {
  // The socket asks for no credential, so only this user may reach it. Only this user can enter the
  // folder. A sandbox can't: it has a `/dev/shm` and a `/tmp` of its own, whatever its reach is.
  swept ??= sweep();
  await swept;
  const folder = await mkdtemp(join(SOCKETS, `ethos-proxy-${process.pid}-`));
  const remove = () => rm(folder, { recursive: true, force: true });
  const path = join(folder, 'proxy');
  try {
    const proxy = await listen(path);
    return {
      path,
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
