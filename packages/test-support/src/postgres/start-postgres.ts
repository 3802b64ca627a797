import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endInTurn } from '../end-in-turn.js';
import { type Account, unprivilegedAccount } from './account.js';
import { postgresProgram } from './programs.js';

/** A PostgreSQL of a test, in a private folder. It listens on a socket in it, and on no port. */
export interface TestPostgres {
  /** Of its database `postgres`, for its one user. */
  readonly url: string;
  /** The same server by another database, which is made here, empty. */
  createDatabase(): string;
  /** Ends the server by SIGQUIT, which lets it flush nothing, as a crash does. */
  crash(): Promise<void>;
  /** Starts it again on what is there. */
  start(): Promise<void>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

const USER = 'ethos';

/**
 * Makes and starts a server. It ends with the thread that called this, at the latest.
 *
 * @param settings lines of its configuration, as `fsync=on`; it runs without `fsync` else, which a
 * crash of the server does not need, and a power loss would
 */
export async function startPostgres(settings: readonly string[] = []): Promise<TestPostgres> {
  const account = unprivilegedAccount();
  const folder = mkdtempSync(join(tmpdir(), 'pg-'));
  if (account !== undefined) chownSync(folder, account.uid, account.gid);
  const data = join(folder, 'data');
  let server: ChildProcess | undefined;
  const endServer = endInTurn();

  const start = async () => {
    const options = ['fsync=off', 'listen_addresses=', 'shared_buffers=16MB', ...settings];
    const [file, ...args] = asAccount(account, postgresProgram('postgres'), [
      ...['-D', data, '-k', folder],
      ...options.flatMap((option) => ['-c', option]),
    ]);
    server = spawn(file, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    await isReady(server);
  };
  const end = async (signal: NodeJS.Signals) => {
    const ending = server;
    server = undefined;
    await endServer(ending, signal);
  };
  const url = (database: string) => `postgresql:///${database}?host=${folder}&user=${USER}`;

  try {
    run(
      account,
      folder,
      postgresProgram('initdb'),
      ...['-D', data, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    );
    await start();
  } catch (error) {
    await end('SIGQUIT');
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return {
    url: url('postgres'),
    createDatabase() {
      const name = `test_${randomBytes(8).toString('hex')}`;
      run(
        account,
        folder,
        postgresProgram('createdb'),
        // Copies the files, which takes a quarter of the time of writing them to the log.
        ...['-h', folder, '-U', USER, '-T', 'template0', '--strategy=file_copy', name],
      );
      return url(name);
    },
    crash: () => end('SIGQUIT'),
    start,
    async stop() {
      await end('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Resolves when the server accepts connections, which it reports in its log. */
async function isReady(server: ChildProcess): Promise<void> {
  let log = '';
  await new Promise<void>((resolve, reject) => {
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      // Later output is read and dropped, so that the server never waits for a reader.
      if (log.length < 100_000) log += text;
      if (log.includes('is ready to accept connections')) resolve();
    });
    server.once('error', reject);
    server.once('close', () => reject(new Error(`PostgreSQL did not start: ${log}`)));
  });
}

// biome-ignore lint/complexity/useMaxParams: a command line
function run(
  account: Account | undefined,
  folder: string,
  program: string,
  ...programArgs: string[]
): void {
  const [file, ...args] = asAccount(account, program, programArgs);
  const { status, stderr, error } = spawnSync(file, args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}`);
}

/** PostgreSQL refuses to run as root. A server must not outlive the test that started it. */
function asAccount(
  account: Account | undefined,
  program: string,
  args: readonly string[],
): [string, ...string[]] {
  const who =
    account === undefined
      ? []
      : [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups'];
  return ['setpriv', ...who, '--pdeathsig=INT', '--', program, ...args];
}
