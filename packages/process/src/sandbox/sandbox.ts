import type { ProcessLimits } from '@ethosagent/types';
import type { BaseEnvironment } from '../environment.js';
import type { ShownReach } from '../working-directory.js';

/**
 * Isolates the child processes of a host, by bubblewrap, a container, or other means of the system.
 * A command in the sandbox sees programs, the reach of its call, and its own `/tmp`, which it may
 * write to. It sees no other file, no process outside, and no network except the proxy that it
 * gets.
 */
export interface Sandbox {
  /**
   * How the operator can make the sandbox work on this machine. Messages put it after "ask the
   * operator to".
   */
  readonly remedy: string;
  /**
   * Whether the sandbox works on this machine. Called before each command, so test once and
   * remember the answer.
   * @param path the host's `PATH`
   */
  isAvailable(path: string): boolean | Promise<boolean>;
  /**
   * Turns a command into one that runs it in the sandbox. Called only if the sandbox is available.
   */
  wrap(
    command: SandboxCommand,
    options: SandboxOptions,
  ): SandboxedCommand | Promise<SandboxedCommand>;
}

/** A command that is to run in a sandbox. */
export interface SandboxCommand {
  /** The absolute path of the program. */
  file: string;
  args: readonly string[];
  /** All environment variables of the command. The host adds no others. */
  env: BaseEnvironment;
  /** The host's `PATH`. */
  path: string;
}

/** The options of a sandbox for one command. */
export interface SandboxOptions {
  /** The files that the command sees, without the denied ones. */
  reach: ShownReach;
  /** The working directory: a real path within the reach. The sandbox's own `/tmp` when absent. */
  cwd: string | undefined;
  limits: ProcessLimits;
  /**
   * Whether the personality or the call set `limits.processes`. If not, the value is the default,
   * and the sandbox need not enforce it for a host that runs as root.
   */
  countsProcesses: boolean;
  /**
   * The path of a socket with an HTTP proxy, which is the command's only network. No network when
   * absent.
   */
  proxySocket: string | undefined;
  /** Whether the command's standard input stays open. */
  keepsInput: boolean;
  /**
   * Whether the command gets descriptor 4 of the wrapping program, through which it exchanges
   * messages with the host. Then `descriptors` of the wrapped command begin at 5.
   */
  keepsChannel: boolean;
}

/** A wrapped command: the program that runs it in the sandbox. */
export interface SandboxedCommand {
  file: string;
  args: readonly string[];
  env: BaseEnvironment;
  /** The working directory of the wrapping program. */
  cwd: string;
  /** Further descriptors for the wrapping program: from 3 on, or from 5 on with a channel. */
  descriptors?: readonly number[];
  /**
   * Whether the command gets descriptor 4, as `keepsChannel` asked. If it was asked for and this is
   * not `true`, the command is not started.
   */
  passesChannel?: boolean;
  /**
   * Needed if the sandbox itself writes output before the command begins. Called once for each
   * child. Without it, input, output and exit code belong to the command from the start.
   *
   * @param begin starts the command, after it has written `answer` to the sandbox's standard input
   */
  observe?: (begin: (answer: string) => void) => SandboxObserver;
  /** Called when the wrapping program has started, or could not be started. */
  release(): void;
  /** Called when the wrapping program has ended, or could not be started. */
  ended(): void;
}

/** Separates the output of a sandbox from the output of the command in it. */
export interface SandboxObserver {
  /** Returns the part of a chunk of standard error that the command wrote. */
  ofCommand(chunk: Buffer): Buffer;
  /** Explains why the command did not run; `undefined` if it ran. */
  failure(exitCode: number | null, stderr: string): string | undefined;
  /** Returns the signal that ended the command, if the exit code stands for one. */
  signal(exitCode: number | null): NodeJS.Signals | undefined;
}
