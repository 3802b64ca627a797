import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endInTurn } from '../end-in-turn.js';

/** A Redis of a test, in a private folder. It listens on a socket in it, and on no port. */
export interface TestRedis {
  /** The path of its socket. */
  readonly path: string;
  /** Ends it by a signal; `SIGKILL` is a crash. */
  end(signal: NodeJS.Signals): Promise<void>;
  /** Starts it again on what is on its disk. */
  start(): Promise<void>;
  /** Stops it from answering, and lets it go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

/**
 * Starts a Redis. It ends with the thread that called this, at the latest.
 *
 * @param settings of its command line, as `['--appendonly', 'yes']`; it writes nothing to its disk else
 */
export async function startRedis(settings: readonly string[] = []): Promise<TestRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'redis-'));
  const path = join(folder, 'socket');
  let server: ChildProcess | undefined;
  const endServer = endInTurn();

  const start = async () => {
    const options = [
      '--port',
      '0',
      '--unixsocket',
      path,
      '--dir',
      folder,
      '--save',
      '',
      '--loglevel',
      'notice',
    ];
    const args = ['--pdeathsig=KILL', '--', 'redis-server', ...options, ...settings];
    server = spawn('setpriv', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    await isReady(server);
  };
  const end = async (signal: NodeJS.Signals) => {
    const ending = server;
    server = undefined;
    await endServer(ending, signal);
  };
  await start();
  return {
    path,
    start,
    end,
    signal: (signal) => void server?.kill(signal),
    async stop() {
      await end('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Resolves when the server accepts connections, which it reports in its log. */
async function isReady(server: ChildProcess): Promise<void> {
  let log = '';
  await new Promise<void>((resolve, reject) => {
    const read = (text: string) => {
      // Later output is read and dropped, so that the server never waits for a reader.
      if (log.length < 100_000) log += text;
      if (/is now ready to accept connections|[Rr]eady to accept connections/.test(log)) resolve();
    };
    server.stdout?.setEncoding('utf8').on('data', read);
    server.stderr?.setEncoding('utf8').on('data', read);
    server.once('error', reject);
    server.once('close', () => reject(new Error(`Redis did not start: ${log}`)));
  });
}
