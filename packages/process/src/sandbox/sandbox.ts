import type { ProcessLimits } from '@ethosagent/types';
import type { BaseEnvironment } from '../environment.js';
import type { ShownReach } from '../working-directory.js';

/**
 * Isolates the children of a host: by bubblewrap, a container, or another means of the system. A
 * sandboxed command sees programs, its reach and a `/tmp` of its own that it may write to. It sees
 * no other file, no process outside, and no network but the proxy that it is given.
 */
export interface Sandbox {
  /** What the operator has to do where it does not work: what goes on after "ask the operator to". */
  readonly remedy: string;
  /**
   * Whether it works on this machine. Asked before each command, so try once and remember.
   * @param path the host's `PATH`
   */
  isAvailable(path: string): boolean | Promise<boolean>;
  /** Turns a command into one that runs it in the sandbox. Called only where it is available. */
  wrap(
    command: SandboxCommand,
    options: SandboxOptions,
  ): SandboxedCommand | Promise<SandboxedCommand>;
}

/** What is to run. */
export interface SandboxCommand {
  /** The absolute path of the program. */
  file: string;
  args: readonly string[];
  /** All variables of the command. The host passes on no other. */
  env: BaseEnvironment;
  /** The host's `PATH`. */
  path: string;
}

/** How a command is to run. */
export interface SandboxOptions {
  /** The files that it sees, less those that are denied. */
  reach: ShownReach;
  /** A real path within the reach; the private `/tmp` when absent. */
  cwd: string | undefined;
  limits: ProcessLimits;
  /** Whether someone asked for `limits.processes`. A default need not hold a host that runs as root. */
  countsProcesses: boolean;
  /** The socket of an HTTP proxy, to be offered to the command as its way out. No network when absent. */
  proxySocket: string | undefined;
  /** Whether standard input stays open for the command. */
  keepsInput: boolean;
  /**
   * Whether the command is to have descriptor 4 of the wrapping program, by which it talks with the
   * host. `descriptors` of the wrapped command then begin at 5.
   */
  keepsChannel: boolean;
}

/** A command, wrapped. */
export interface SandboxedCommand {
  file: string;
  args: readonly string[];
  env: BaseEnvironment;
  /** Where the wrapping program itself is started. */
  cwd: string;
  /** To be the child's, after the three that every child has; from 5 on where there is a channel. */
  descriptors?: readonly number[];
  /** The command gets descriptor 4, as `keepsChannel` asked. Without it, it does not run. */
  passesChannel?: boolean;
  /**
   * Told of one child's output, where the sandbox itself says something before the command does.
   * Without it, the command owns input, output and exit code from the start.
   *
   * @param begin lets the command begin, after what the sandbox is to read on its standard input
   */
  observe?: (begin: (answer: string) => void) => SandboxObserver;
  /** Called when the child has begun, or could not be started. */
  release(): void;
  /** Called when the child has ended, or could not be started. */
  ended(): void;
}

/** Tells what a sandbox says from what the command in it says. */
export interface SandboxObserver {
  /** What of a piece of the standard error is the command's. */
  ofCommand(chunk: Buffer): Buffer;
  /** Why the command did not run; `undefined` when it ran. */
  failure(exitCode: number | null, stderr: string): string | undefined;
  /** The signal that ended the command, where the exit code stands for one. */
  signal(exitCode: number | null): NodeJS.Signals | undefined;
}
