import {
  type BaseEnvironment,
  type DirectoryReach,
  isProcessLimitSet,
  NOTHING_SHOWN,
  type ProxySocket,
  resolveLimits,
  type Sandbox,
  type SandboxCommand,
  type SandboxedCommand,
} from '@ethosagent/process';
import { CapabilityError, type ProcessPolicy, type SpawnOpts } from '@ethosagent/types';
import { pinWorkingDirectory, sandboxedDirectory } from './working-directory.js';

export interface LaunchOpts extends SpawnOpts {
  /** Whether its standard input stays open. */
  keepsInput?: boolean;
  /** Whether it has a descriptor through which it exchanges messages with the tool. */
  keepsChannel?: boolean;
}

/** A command to run. */
export interface Command {
  file: string;
  args: readonly string[];
  env: BaseEnvironment;
}

/** A command and its working folder, which stays open until the command has started. */
export interface CommandPlace extends Command {
  cwd: string | undefined;
  /** Set for a sandboxed command. */
  sandbox?: Pick<SandboxedCommand, 'descriptors' | 'observe'>;
  release(): void;
  ended?(): void;
}

/** What the commands of a call may see and use. */
export interface PlaceOptions {
  reach?: DirectoryReach | undefined;
  workingDir?: string | undefined;
  policy?: ProcessPolicy | undefined;
}

const NOWHERE: DirectoryReach = { roots: [], denies: () => false };

/**
 * Places a command on the host, in a folder within the reach.
 *
 * @param command the command
 * @param cwd the folder that the tool named
 * @param options the reach of the call; not limited if absent
 * @returns the command, to be released when it has started
 * @throws `PATH_NOT_REACHABLE`
 */
export function placeOnHost(
  command: Command,
  cwd: string | undefined,
  { reach, workingDir }: PlaceOptions,
): CommandPlace {
  if (reach === undefined) return { ...command, cwd, release: () => {} };
  const { path, release } = pinWorkingDirectory(cwd, { reach, workingDir });
  return { ...command, cwd: path, release };
}

/** What a sandboxed command may see, use and reach. */
export interface SandboxedPlace extends PlaceOptions {
  sandbox: Sandbox;
  opts: LaunchOpts;
  /** Opens the way out of the sandbox; returns `undefined` if there is no network. */
  openWayOut: () => Promise<ProxySocket> | undefined;
}

/**
 * Wraps a command into a sandbox.
 *
 * @param command the command, with the host's `PATH`
 * @param place the sandbox, and what the command may see, use and reach in it
 * @returns the wrapped command, to be released when it has started
 * @throws `PATH_NOT_REACHABLE`; `SANDBOX_UNAVAILABLE` if the sandbox can't hand on a channel
 */
export async function placeInSandbox(
  command: SandboxCommand,
  { sandbox, opts, reach, workingDir, policy, openWayOut }: SandboxedPlace,
): Promise<CommandPlace> {
  const env = { ...command.env, TMPDIR: opts.env?.TMPDIR ?? '/tmp' };
  const wrapped = await sandbox.wrap(
    { ...command, env },
    {
      reach: reach?.shown ?? NOTHING_SHOWN,
      cwd: sandboxedDirectory(opts.cwd, { reach: reach ?? NOWHERE, workingDir }),
      limits: resolveLimits(policy?.limits, opts.limits),
      countsProcesses: isProcessLimitSet(policy?.limits, opts.limits),
      proxySocket: (await openWayOut())?.path,
      keepsInput: opts.keepsInput === true,
      keepsChannel: opts.keepsChannel === true,
    },
  );
  if (opts.keepsChannel === true && wrapped.passesChannel !== true) {
    wrapped.release();
    wrapped.ended();
    throw new CapabilityError(
      'SANDBOX_UNAVAILABLE',
      'the sandbox of this host hands no descriptor on to what runs in it, so that a process can not talk with its tool; ask the operator for one that does',
      'no channel',
    );
  }
  return { ...wrapped, sandbox: wrapped };
}
