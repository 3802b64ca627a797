import { basename, isAbsolute } from 'node:path';
import {
  BoundaryError,
  CapabilityError,
  EthosError,
  errorCodeOf,
  type ProcessResult,
  type ScopedProcess,
  type SpawnOpts,
} from '@ethosagent/types';
import { type AccessScope, recordAccess } from '../access.js';
import { assertSafeEnvironment } from '../process/environment.js';
import { findBinary, isExecutableFile } from '../process/find-binary.js';
import { endStragglers, TAG_VARIABLE } from '../process/process-tree.js';
import {
  type DirectoryReach,
  type PinnedDirectory,
  pinDirectory,
} from '../process/working-directory.js';
import { unawaited } from '../rejections.js';

/** Bytes of each output stream that are kept unless an option says otherwise. */
export const DEFAULT_MAX_OUTPUT_BYTES = 10 * 1024 * 1024;

export interface ScopedProcessOptions {
  /** What `opts.env` is merged over, and whose `PATH` finds binaries. `process.env` when absent. */
  baseEnv?: Readonly<Record<string, string | undefined>> | undefined;
  /** Where a child must work. No constraint when absent. */
  reach?: DirectoryReach | undefined;
  /** Where a child works that is told nothing, if that is within `reach`; else in its first root. */
  workingDir?: string | undefined;
  /** Bytes of each output stream that are kept; more ends the process. */
  maxOutputBytes?: number;
  scope?: AccessScope | undefined;
}

/** Processes, held to a set of binaries. No shell; the whole tree ends with the call. */
export class ScopedProcessImpl implements ScopedProcess {
  readonly #allowed: ReadonlySet<string>;
  readonly #options: ScopedProcessOptions;
  #callTag: string | undefined;
  #spawned = 0;
  #sweeps = false;

  constructor(allowedBinaries: ReadonlySet<string>, options: ScopedProcessOptions = {}) {
    this.#allowed = allowedBinaries;
    this.#options = options;
  }

  /**
   * Runs a binary to its end; standard input is closed. `timeout` (milliseconds), the end of the
   * call and an output over the cap end the whole process tree.
   * @throws `BINARY_NOT_ALLOWED`, `PATH_NOT_REACHABLE` for `cwd`, `SPAWN_FAILED`, or the reason of
   * the call's abort
   */
  spawn(binary: string, args: string[], opts: SpawnOpts = {}): Promise<ProcessResult> {
    return unawaited(this.#spawn(binary, args, opts));
  }

  async #spawn(binary: string, args: string[], opts: SpawnOpts): Promise<ProcessResult> {
    const access = { capability: 'process', operation: 'spawn', target: String(binary) } as const;
    const started = await recordAccess(this.#options.scope, access, async (allow) =>
      this.#start(binary, args, opts, allow),
    );
    return started.result;
  }

  // Wrapped in an object, so that awaiting the start does not await the end.
  async #start(
    binary: string,
    args: string[],
    opts: SpawnOpts,
    allow: () => void,
  ): Promise<{ result: Promise<ProcessResult> }> {
    // Loaded by the first process: most programs that import this package start none.
    const { runChild } = await import('../process/run-child.js');
    const baseEnv = this.#options.baseEnv ?? hostEnvironment();
    const file = this.#resolveBinary(binary, baseEnv.PATH ?? '');
    if (opts.env !== undefined) assertSafeEnvironment(opts.env);
    const position = args.findIndex((arg) => typeof arg !== 'string' || arg.includes('\0'));
    if (position >= 0) {
      throw new EthosError('SPAWN_FAILED', `argument ${position} is not a string without NUL`);
    }
    const { reach } = this.#options;
    const directory = reach === undefined ? undefined : this.#pin(opts.cwd, reach);
    const cwd = directory?.path ?? opts.cwd;
    this.#callTag ??= crypto.randomUUID();
    const tag = `${this.#callTag}.${++this.#spawned}.`;
    const { maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES, scope } = this.#options;
    try {
      allow();
      const { pid, result } = runChild(file, args, {
        name: binary,
        cwd,
        env: { ...baseEnv, ...opts.env, [TAG_VARIABLE]: tag },
        tag,
        timeoutMs: opts.timeout,
        maxOutputBytes,
        signal: scope?.signal,
      });
      this.#endStragglersWithCall(pid);
      return { result };
    } finally {
      directory?.release();
    }
  }

  #pin(cwd: string | undefined, reach: DirectoryReach): PinnedDirectory {
    if (cwd !== undefined) return pinDirectory(cwd, reach);
    const wanted = this.#options.workingDir ?? process.cwd();
    for (const candidate of [wanted, ...reach.roots]) {
      try {
        return pinDirectory(candidate, reach);
      } catch (error) {
        if (errorCodeOf(error) !== 'PATH_NOT_REACHABLE') throw error;
      }
    }
    throw new BoundaryError('read', wanted, 'no directory within the reach');
  }

  // A daemon holds no pipe and is in no group of ours; only its tag tells whose it is.
  #endStragglersWithCall(pid: number | undefined): void {
    if (pid === undefined || this.#sweeps) return;
    this.#sweeps = true;
    this.#options.scope?.onEnd(() => endStragglers(pid, `${this.#callTag}.`));
  }

  #resolveBinary(binary: string, path: string): string {
    const denied = (rule: string) =>
      new CapabilityError(
        'BINARY_NOT_ALLOWED',
        `${binary} is not in the declared allowedBinaries`,
        rule,
      );
    if (typeof binary !== 'string' || binary === '' || binary.includes('\0')) {
      throw denied('malformed name');
    }
    if (!this.#allowed.has(binary) && !this.#allowed.has('*')) throw denied('not declared');
    if (isAbsolute(binary)) {
      if (isExecutableFile(binary)) return binary;
    } else if (basename(binary) !== binary || binary === '.' || binary === '..') {
      // Relative to what? To a directory that the model may choose.
      throw denied('neither a bare name nor an absolute path');
    } else {
      const file = findBinary(binary, path);
      if (file !== undefined) return file;
    }
    throw new EthosError('SPAWN_FAILED', `${binary} is not installed; ask the operator to add it`);
  }
}

function hostEnvironment(): Readonly<Record<string, string | undefined>> {
  // biome-ignore lint/style/noProcessEnv: the documented default; a host passes its own base environment
  return process.env;
}
