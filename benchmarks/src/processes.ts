import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveCapabilities } from '@ethosagent/core';
import type { ProcessPolicy } from '@ethosagent/types';
import { importPeer } from './peers.js';
import { type Contender, sideBySide } from './side-by-side.js';

/** A way to start a process, and ours beside it. */
interface Pair {
  name: string;
  by: () => unknown;
  ours: string;
  policy: ProcessPolicy;
  /** The goal. */
  atMost: number;
}

const SPAWNS = 10;

/** What every contender's child gets; wiring passes about as much. */
const env = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', TERM: 'dumb', USER: 'bench' };

/** A sandbox of the same strength, written by hand: mounts, isolation, limits. */
function bubblewrap(folder: string): string[] {
  return [
    ...['--unshare-all', '--unshare-user', '--unshare-cgroup', '--disable-userns'],
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--ro-bind', '/usr', '/usr'],
    ...['--symlink', 'usr/bin', '/bin', '--symlink', 'usr/lib', '/lib'],
    ...['--symlink', 'usr/lib64', '/lib64', '--ro-bind', '/etc/ssl/certs', '/etc/ssl/certs'],
    ...['--ro-bind', '/etc/alternatives', '/etc/alternatives'],
    ...['--ro-bind', '/etc/passwd', '/etc/passwd', '--ro-bind', '/etc/group', '/etc/group'],
    ...['--ro-bind', '/etc/nsswitch.conf', '/etc/nsswitch.conf'],
    ...['--ro-bind', '/etc/ld.so.cache', '/etc/ld.so.cache'],
    ...['--tmpfs', '/tmp', '--bind', folder, folder, '--proc', '/proc', '--remount-ro', '/proc'],
    ...['--dev', '/dev', '--tmpfs', '/dev/shm', '--remount-ro', '/dev', '--remount-ro', '/'],
    ...['--chdir', folder, '--', 'prlimit', '--core=0:0', '--nproc=512:512'],
    ...['--fsize=1073741824:1073741824', '--nofile=1024:1024', '--'],
  ];
}

/** A short process: `scopedProcess.spawn`, plain and sandboxed, beside what it is made of. */
export async function run(): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'bench-process-')));
  const processes = (policy: ProcessPolicy) =>
    resolveCapabilities(
      'bench',
      {
        process: { allowedBinaries: ['true'] },
        fs_reach: { read: 'from-personality', write: 'from-personality' },
      },
      { sessionId: 's', workingDir: folder },
      {
        personalityFsReach: { read: [folder], write: [folder] },
        personalityProcess: policy,
        processEnv: env,
      },
    ).scopedProcess;
  const several = (start: () => unknown) => async () => {
    for (let index = 0; index < SPAWNS; index++) await start();
  };
  const raw = (file: string, args: string[]) => async () => {
    const child = spawn(file, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.resume();
    child.stderr.resume();
    await once(child, 'close');
  };
  const contenders = ({ name, by, ours, policy, atMost }: Pair) => {
    const scoped = processes(policy);
    return [
      { name, operations: SPAWNS, run: several(by) },
      {
        name: ours,
        operations: SPAWNS,
        run: several(() => scoped?.spawn('true', [])),
        goal: { atMost, of: name },
      },
    ] satisfies Contender[];
  };
  const peers = await peersOf(folder);
  try {
    await sideBySide('A short process', [
      ...contenders({
        name: 'spawn',
        by: raw('true', []),
        ours: 'scopedProcess.spawn',
        policy: {},
        atMost: 1.05,
      }),
      ...peers.map(({ name, start }) => ({
        name,
        operations: SPAWNS,
        run: several(start),
        beside: 'spawn',
      })),
      ...contenders({
        name: 'spawn of bwrap',
        by: raw('bwrap', [...bubblewrap(folder), 'true']),
        ours: 'scopedProcess.spawn, sandboxed',
        policy: { sandbox: 'required' },
        atMost: 1.1,
      }),
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Libraries that start processes and gather what they write. */
async function peersOf(cwd: string): Promise<Array<{ name: string; start: () => unknown }>> {
  const tinyexec = (await importPeer('tinyexec')) as Tinyexec | undefined;
  const execa = (await importPeer('execa')) as Execa | undefined;
  const options = { cwd, env };
  return [
    ...(tinyexec === undefined
      ? []
      : [{ name: 'tinyexec', start: () => tinyexec.x('true', [], { nodeOptions: options }) }]),
    ...(execa === undefined
      ? []
      : [
          { name: 'execa', start: () => execa.execa('true', [], { ...options, extendEnv: false }) },
        ]),
  ];
}

/** What is used of the peers: their packages are not in the workspace, so neither are their types. */
interface Tinyexec {
  x(file: string, args: string[], options: { nodeOptions: object }): PromiseLike<unknown>;
}
interface Execa {
  execa(file: string, args: string[], options: object): PromiseLike<unknown>;
}
