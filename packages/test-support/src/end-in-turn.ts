import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/**
 * Makes a function that ends the servers of one folder. Every caller waits until the last one that was told
 * to end has ended: the next server can't start while it holds the folder.
 */
export function endInTurn(): (
  server: ChildProcess | undefined,
  signal: NodeJS.Signals,
) => Promise<void> {
  let ended: Promise<unknown> = Promise.resolve();
  return async (server, signal) => {
    if (server !== undefined && server.exitCode === null && server.signalCode === null) {
      ended = once(server, 'close');
      server.kill(signal);
    }
    await ended;
  };
}
