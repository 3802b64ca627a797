import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A server of this story, which listens on a socket in a private folder. */
export interface Server {
  /** How it is reached. */
  address: string;
  stop(): Promise<void>;
}

/** Debian keeps the programs of PostgreSQL on no `PATH`. */
const DEBIAN = '/usr/lib/postgresql';

/** PostgreSQL refuses to run as root: then it runs as its own user. `setpriv` ends it with us. */
function asUser(uid: number | undefined): string[] {
  const who = uid === undefined ? [] : [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
  return [...who, '--pdeathsig=KILL', '--'];
}

function userId(): number | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  const line = users.find((user) => user.startsWith('postgres:') || user.startsWith('nobody:'));
  return Number(line?.split(':')[2] ?? 65_534);
}

function program(name: string): string {
  if (!existsSync(DEBIAN)) return name;
  const versions = readdirSync(DEBIAN).map(Number).filter(Number.isFinite);
  return join(DEBIAN, `${Math.max(...versions)}`, 'bin', name);
}

export async function startPostgres(): Promise<Server> {
  const uid = userId();
  // The folder of another user can be in none of root's.
  const folder = mkdtempSync(join(uid === undefined ? tmpdir() : '/tmp', 'fleet-pg-'));
  const data = join(folder, 'data');
  if (uid !== undefined) chownSync(folder, uid, uid);
  const made = spawnSync(
    'setpriv',
    [
      ...asUser(uid),
      program('initdb'),
      '-D',
      data,
      '-U',
      'ethos',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--locale=C',
      '--no-sync',
    ],
    { cwd: folder, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const server = spawn(
    'setpriv',
    [...asUser(uid), program('postgres'), '-D', data, '-k', folder, '-c', 'listen_addresses='],
    { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  await says(server, server.stderr, 'ready to accept connections');
  return {
    address: `postgresql:///postgres?host=${folder}&user=ethos`,
    async stop() {
      await stop(server, 'SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function startRedis(folder: string): Promise<Server> {
  mkdirSync(folder);
  const socket = join(folder, 'socket');
  const server = spawn(
    'setpriv',
    [
      ...asUser(undefined),
      'redis-server',
      '--port',
      '0',
      '--unixsocket',
      socket,
      '--save',
      '',
      '--dir',
      folder,
    ],
    { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] },
  );
  await says(server, server.stdout, 'eady to accept connections');
  return { address: socket, stop: () => stop(server, 'SIGTERM') };
}

/** Resolves when a process has said something. */
export function says(
  child: ChildProcess,
  output: NodeJS.ReadableStream | null,
  word: string,
): Promise<void> {
  let said = '';
  return new Promise((resolve, reject) => {
    output?.on('data', (chunk) => {
      if (said.length < 100_000) said += String(chunk);
      if (said.includes(word)) resolve();
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`it ended before it said "${word}": ${said}`)));
  });
}

/** Ends a process and waits for it. */
export async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const over = once(child, 'exit');
  child.kill(signal);
  await over;
}
