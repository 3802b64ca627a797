import { spawnSync } from 'node:child_process';
import { basename, delimiter, dirname, join, normalize } from 'node:path';
import { CapabilityError } from '@ethosagent/types';
import { CHANNEL_DESCRIPTOR } from '../../child-channel.js';
import { findBinary } from '../../find-binary.js';
import { resolveLimits } from '../../resolve-limits.js';
import { NOTHING_SHOWN, realOrAsked, type ShownReach } from '../../working-directory.js';
import type { SandboxCommand, SandboxedCommand, SandboxOptions } from '../sandbox.js';
import { beginning, GO, limited, limitedBeginning } from './begin.js';
import { FORWARDER, SOCKET_IN_SANDBOX } from './forwarder.js';
import { type Mount, Mounts } from './mounts.js';
import { BubblewrapObserver } from './observer.js';
import { systemMounts } from './system-mounts.js';
import { createTaskGroup } from './task-group.js';

/** The first descriptor after the three standard ones, and the first one after the channel. */
const FIRST_DESCRIPTOR = 3;
const FIRST_BEHIND_CHANNEL = CHANNEL_DESCRIPTOR + 1;

const SCRATCH_BYTES = 1024 ** 3;

const ISOLATION = [
  '--unshare-all',
  // `--unshare-all` only tries these two, and does not fail without them.
  '--unshare-user',
  '--unshare-cgroup',
  '--disable-userns',
  '--die-with-parent',
  '--new-session',
  ...['--cap-drop', 'ALL'],
];

const KERNEL = [
  ...['--proc', '/proc'],
  // For the kernel, a host that runs as root owns `/proc/sys` in the sandbox too.
  ...['--remount-ro', '/proc'],
  ...['--dev', '/dev'],
  ...['--size', String(SCRATCH_BYTES), '--perms', '1777', '--tmpfs', '/dev/shm'],
  ...['--remount-ro', '/dev'],
];

// An older bubblewrap can't mount a file by its descriptor, so the probe includes one.
const PROBED: ShownReach = {
  roots: [{ asked: '/etc/passwd', real: '/etc/passwd', writable: false }],
  deny: NOTHING_SHOWN.deny,
};

const probed = new Map<string, boolean>();

/**
 * The program that makes sandboxes on this machine. Everything that is needed of it is tried once.
 * `undefined` if it is missing or not permitted.
 *
 * @param path a `PATH`; only its system folders are searched
 * @throws `SANDBOX_UNAVAILABLE` if it can't be tried now
 */
export function findBubblewrap(path: string): string | undefined {
  if (process.platform !== 'linux') return undefined;
  const bwrap = findBinary('bwrap', systemFolders(path));
  if (bwrap === undefined) return undefined;
  if (!probed.has(bwrap)) probed.set(bwrap, works(bwrap));
  return probed.get(bwrap) ? bwrap : undefined;
}

// A tool may be able to write to other folders of a `PATH`, such as one of the project.
const SYSTEM = /^\/(usr|bin|sbin|nix\/store|run\/(current-system|wrappers))(\/|$)/;

function systemFolders(path: string): string {
  return path
    .split(delimiter)
    .filter((folder) => SYSTEM.test(normalize(folder)))
    .join(delimiter);
}

/** Errors that say nothing about the program: the machine is too busy, or the host has too much open. */
const PASSING = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'ETIMEDOUT']);

function works(bwrap: string): boolean {
  const { args, descriptors, release } = wrapBy(
    bwrap,
    { file: '/bin/sh', args: ['-c', ':'], env: {} },
    {
      reach: PROBED,
      cwd: undefined,
      limits: resolveLimits(undefined, undefined),
      countsProcesses: false,
      proxySocket: undefined,
      keepsInput: false,
      keepsChannel: false,
    },
  );
  try {
    const { status, error }: { status: number | null; error?: NodeJS.ErrnoException } = spawnSync(
      bwrap,
      args,
      {
        input: GO,
        stdio: ['pipe', 'ignore', 'ignore', ...descriptors],
        env: {},
        cwd: '/',
        timeout: 10_000,
        killSignal: 'SIGKILL',
      },
    );
    if (PASSING.has(error?.code ?? '')) {
      throw new CapabilityError(
        'SANDBOX_UNAVAILABLE',
        `the sandbox could not be tried (${error?.code}), so the process did not start; try again`,
        'sandbox not tried',
        { cause: error },
      );
    }
    return status === 0;
  } finally {
    release();
  }
}

/**
 * Wraps a command in a sandbox. It sees the system's programs, the reach of its call and a `/tmp`
 * of its own. It sees no other process, no network and no other file of the host.
 *
 * @throws `SANDBOX_UNAVAILABLE` if bubblewrap does not work
 */
export function wrapByBubblewrap(
  command: SandboxCommand,
  options: SandboxOptions,
): SandboxedCommand {
  const bwrap = findBubblewrap(command.path);
  if (bwrap === undefined) {
    throw new CapabilityError(
      'SANDBOX_UNAVAILABLE',
      'bubblewrap was found before and is gone now, so the process did not start; ask the operator to install it again',
      'sandbox required',
    );
  }
  return wrapBy(bwrap, command, options);
}

function wrapBy(
  bwrap: string,
  command: Omit<SandboxCommand, 'path'>,
  options: SandboxOptions,
): SandboxedCommand & { descriptors: readonly number[] } {
  const { reach, limits, proxySocket, keepsInput, keepsChannel } = options;
  const { roots, deny } = reach;
  const mounts = new Mounts(deny, systemMounts());
  try {
    for (const writable of [false, true]) {
      for (const root of roots) if (root.writable === writable) mounts.add(root.real, writable);
    }
    for (const { asked, real } of roots) mounts.link(asked, real);
    showBinary(mounts, command.file);
    const begin =
      proxySocket === undefined
        ? limitedBeginning(limits, keepsInput)
        : [...beginning(keepsInput), ...forwarder(mounts, keepsChannel), ...limited(limits)];
    const descriptors: number[] = [];
    const first = keepsChannel ? FIRST_BEHIND_CHANNEL : FIRST_DESCRIPTOR;
    const hold = (descriptor: number) => String(first + descriptors.push(descriptor) - 1);
    const entries = mounts.entries();
    const shown = entries.flatMap(([path, mount]) => mountOptions(path, mount, { mounts, hold }));
    const closed = entries.flatMap(([path, { kind }]) =>
      kind === 'folder' && path !== '/' ? ['--remount-ro', path] : [],
    );
    const { HOME = '' } = command.env;
    const { processes = 0 } = limits;
    const group = options.countsProcesses ? createTaskGroup(processes) : undefined;
    const [file, ...entering] = [...(group?.enter ?? []), bwrap];
    return {
      file,
      args: [
        ...entering,
        ...ISOLATION,
        ...shown,
        ...KERNEL,
        ...closed,
        ...(proxySocket === undefined ? [] : ['--ro-bind', proxySocket, SOCKET_IN_SANDBOX]),
        ...['--remount-ro', '/', '--chdir', options.cwd ?? '/tmp', '--'],
        ...[...begin, command.file, ...command.args],
      ],
      // Many programs fail if their home folder does not exist, so the scratch folder is used.
      env: { ...command.env, ...(!mounts.shows(HOME) && { HOME: '/tmp' }) },
      cwd: '/',
      descriptors,
      passesChannel: keepsChannel,
      observe: (begin) => new BubblewrapObserver(begin),
      release: () => mounts.release(),
      ended: () => group?.release(),
    };
  } catch (error) {
    mounts.release();
    throw error;
  }
}

/** Shows a program outside the system's folders, together with the files of its installation. */
function showBinary(mounts: Mounts, file: string): void {
  const real = realOrAsked(file);
  if (!mounts.shows(real)) {
    mounts.add(real, false);
    if (basename(dirname(real)) === 'bin') {
      const prefix = dirname(dirname(real));
      for (const part of ['bin', 'lib', 'libexec']) {
        const folder = join(prefix, part);
        if (!mounts.shows(folder)) mounts.add(folder, false);
      }
    }
  }
  mounts.link(file, real);
}

/** The program that runs a command with a proxy: this Node itself. */
function forwarder(mounts: Mounts, keepsChannel: boolean): string[] {
  showBinary(mounts, process.execPath);
  const passed = keepsChannel ? String(CHANNEL_DESCRIPTOR) : '';
  return [process.execPath, '-e', FORWARDER, SOCKET_IN_SANDBOX, passed];
}

function mountOptions(
  path: string,
  mount: Mount,
  { mounts, hold }: { mounts: Mounts; hold: (descriptor: number) => string },
): string[] {
  switch (mount.kind) {
    case 'bind':
      return [mount.writable ? '--bind-fd' : '--ro-bind-fd', hold(mount.descriptor), path];
    case 'system':
      return ['--ro-bind', path, path];
    case 'copy': {
      const descriptor = mounts.read(path);
      return descriptor === undefined ? [] : ['--perms', '0444', '--file', hold(descriptor), path];
    }
    case 'link':
      return ['--symlink', mount.target, path];
    case 'folder':
      return path === '/' ? [] : ['--perms', '0755', '--tmpfs', path];
    case 'scratch':
      return ['--size', String(SCRATCH_BYTES), '--perms', '1777', '--tmpfs', path];
  }
}
