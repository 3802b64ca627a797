import { discard, unawaited } from '@ethosagent/policy';
import {
  assertArguments,
  assertSafeEnvironment,
  type BaseEnvironment,
  baseEnvironment,
  createCallMarks,
  type DirectoryReach,
  endStragglers,
  loadRunChild,
  loadSupervisor,
  type ProcessMarks,
  type ProxySocket,
  type RunningChild,
  resolveSandbox,
  type Sandbox,
  TAG_VARIABLE,
} from '@ethosagent/process';
import type { NetworkGuard } from '@ethosagent/safety-network';
import {
  type BackgroundProcesses,
  CapabilityError,
  type PreparedCommand,
  type ProcessPolicy,
  type ProcessResult,
  type ScopedProcess,
  type SpawnOpts,
} from '@ethosagent/types';
import { type AccessAsked, type AccessScope, recordAccess, textOf } from '../access.js';
import { type Command, type LaunchOpts, placeInSandbox, placeOnHost } from './command-place.js';
import { resolveBinary } from './resolve-binary.js';
import { realWorkingDirectory } from './working-directory.js';

/** How many bytes of each output stream are kept unless an option sets another limit. */
export const DEFAULT_MAX_OUTPUT_BYTES = 10 * 1024 * 1024;

export interface ScopedProcessOptions {
  /**
   * The environment to which `opts.env` is added. Its `PATH` is used to find binaries.
   * `process.env` if absent.
   */
  baseEnv?: BaseEnvironment | undefined;
  /** The folders in which a child may start. Not limited if absent. */
  reach?: DirectoryReach | undefined;
  /**
   * Where a child starts unless it names a folder, if that is within `reach`. Otherwise it starts
   * in the first root.
   */
  workingDir?: string | undefined;
  /** Whether children run in a sandbox, and which arguments a binary may get. */
  policy?: ProcessPolicy | undefined;
  /** The sandbox for children, when the policy asks for one. Bubblewrap if absent. */
  sandbox?: Sandbox | undefined;
  /** What sandboxed children may connect to, through a proxy. They have no network if absent. */
  network?: NetworkGuard | undefined;
  /** How many bytes of each output stream are kept. If there are more, the process is ended. */
  maxOutputBytes?: number;
  /** Called for every process that was started. */
  onStarted?: ((child: RunningChild) => void) | undefined;
  scope?: AccessScope | undefined;
}

const SANDBOXED = ', sandboxed';
const LEFT_TO_CALLER = ', not sandboxed: started by the caller';
const NOT_SANDBOXED = ', not sandboxed: this machine has no sandbox';

interface Marked {
  marks: ProcessMarks;
  /** The host's `PATH`. */
  path: string;
}

/**
 * Processes that are limited to a set of binaries. There is no shell. The whole process tree ends
 * with the call.
 */
export class ScopedProcessImpl implements ScopedProcess {
  /** Present if the tool declares it and the call has a session. */
  declare background?: BackgroundProcesses;
  readonly #allowed: ReadonlySet<string>;
  readonly #options: ScopedProcessOptions;
  #marks: ProcessMarks | undefined;
  #sweeps = false;
  #wayOut: Promise<ProxySocket> | undefined;

  /**
   * The processes of one call.
   *
   * @param allowedBinaries names of binaries, resolved against the personality
   * @param options limits, the policy of the personality, the sandbox, and the scope of the call
   */
  constructor(allowedBinaries: ReadonlySet<string>, options: ScopedProcessOptions = {}) {
    this.#allowed = allowedBinaries;
    this.#options = options;
  }

  /**
   * Runs a binary to its end, with a closed standard input. The whole process tree is ended after
   * `timeout` (milliseconds), at the end of the call, and when the output exceeds its limit.
   * @throws `BINARY_NOT_ALLOWED`, `PATH_NOT_REACHABLE` for `cwd`, `SANDBOX_UNAVAILABLE`,
   * `QUOTA_EXCEEDED`, `SPAWN_FAILED`, or the reason of the call's abort
   */
  spawn(binary: string, args: string[], opts: SpawnOpts = {}): Promise<ProcessResult> {
    return unawaited(this.#spawn(binary, args, opts));
  }

  async #spawn(binary: string, args: string[], opts: SpawnOpts): Promise<ProcessResult> {
    return this.#access('spawn', binary, async (allow) => {
      const unopened = { ...opts, keepsInput: false };
      const child = await this.#start({ binary, args, opts: unopened, allow });
      return child.result;
    });
  }

  /**
   * Starts a process, and does not wait for its end.
   *
   * @param operation its name in the audit
   * @param binary the name of the binary
   * @param args its arguments
   * @param opts the working directory, the environment, and what happens to the output
   * @param assertWanted throws if the process must not start any more
   * @returns the running process
   * @throws as `ScopedProcess.spawn`
   */
  // biome-ignore lint/complexity/useMaxParams: a documented signature
  launch(
    operation: 'spawn' | 'start' | 'open',
    binary: string,
    args: string[],
    opts: LaunchOpts,
    /** Throws if the process must not start any more. */
    assertWanted: () => void = () => {},
  ): Promise<RunningChild> {
    return this.#access(operation, binary, (allow) =>
      this.#start({
        binary,
        args,
        opts: { ...opts, keepsInput: operation === 'open' || opts.keepsInput === true },
        allow: (take, where) =>
          allow(() => {
            assertWanted();
            take();
          }, where),
      }),
    );
  }

  /**
   * Checks and records what `spawn` would start, and does not start it. A caller that starts it
   * gets its environment, and a marked process ends with the call.
   *
   * @param binary the name of the binary
   * @param args its arguments
   * @param opts the working directory and the environment
   * @returns the file, the arguments and the environment to start it with
   * @throws as `ScopedProcess.spawn`
   * @throws `SANDBOX_UNAVAILABLE` where the personality requires a sandbox, also on a machine that
   * has one
   */
  prepare(
    binary: string,
    args: string[],
    opts: Pick<SpawnOpts, 'cwd' | 'env'> = {},
  ): Promise<PreparedCommand> {
    return this.#access('prepare', binary, async (allow) => {
      const { policy, scope, reach, workingDir } = this.#options;
      const { sandbox } = policy ?? {};
      const { file, env } = this.#judge(binary, args, opts);
      if (sandbox !== undefined && sandbox !== false && sandbox !== 'preferred') {
        throw new CapabilityError(
          'SANDBOX_UNAVAILABLE',
          `processes must run in a sandbox, and ${binary} is started by a library that has none; ask the operator to set safety.process.sandbox to preferred`,
          'sandbox required',
        );
      }
      const cwd =
        reach === undefined ? opts.cwd : realWorkingDirectory(opts.cwd, { reach, workingDir });
      const { hostSupervisor } = await loadSupervisor();
      allow(() => scope?.spendTime(() => {})(), sandbox ? LEFT_TO_CALLER : '');
      hostSupervisor().begin();
      // The caller starts the process, so its id is not known here. Any id turns on the search for
      // its marks.
      this.#endStragglersWithCall(1);
      const given = Object.entries(env).filter((pair): pair is [string, string] => pair[1] != null);
      return {
        file,
        args: [...args],
        env: Object.fromEntries(given),
        ...(cwd !== undefined && { cwd }),
      };
    });
  }

  /** Records an access to a binary. `allow` gets the place where it will run. */
  #access<T>(
    operation: string,
    binary: string,
    run: (allow: (take: () => void, where: string) => void) => Promise<T>,
  ): Promise<T> {
    const covers = this.#allowed.has(binary) ? binary : '*';
    const rule = `declared as ${covers}`;
    const target = textOf(binary);
    const access: AccessAsked = { capability: 'process', operation, target, rule };
    access.basis = { covers };
    return recordAccess(this.#options.scope, access, async (allow) =>
      run((take, where) => {
        access.rule = rule + where;
        allow(take);
      }),
    );
  }

  /** The command that would run. Its environment contains the tag of its marks. */
  #judge(binary: string, args: readonly string[], opts: Pick<SpawnOpts, 'env'>): Command & Marked {
    const { policy } = this.#options;
    const baseEnv = baseEnvironment(this.#options.baseEnv);
    const path = baseEnv.PATH ?? '';
    const file = resolveBinary(binary, { allowed: this.#allowed, path });
    if (opts.env !== undefined) assertSafeEnvironment(opts.env);
    assertArguments(binary, file, args, policy?.arguments);
    this.#marks ??= createCallMarks();
    const marks = this.#marks.next();
    const env = { ...baseEnv, ...opts.env, [TAG_VARIABLE]: marks.tag };
    return { file, args, env, marks, path };
  }

  async #start({
    binary,
    args,
    opts,
    allow,
  }: {
    binary: string;
    args: string[];
    opts: LaunchOpts;
    allow: (take: () => void, where: string) => void;
  }): Promise<RunningChild> {
    const { runChild } = await loadRunChild();
    const { policy, scope } = this.#options;
    const { file, env, marks, path } = this.#judge(binary, args, opts);
    const sandbox = policy?.sandbox
      ? await resolveSandbox({ policy, path, sandbox: this.#options.sandbox })
      : undefined;
    const place = sandbox
      ? await placeInSandbox(
          { file, args, env, path },
          {
            // One by one: the reach is a getter, which a spread leaves out.
            reach: this.#options.reach,
            workingDir: this.#options.workingDir,
            policy,
            sandbox,
            opts: { ...opts, keepsChannel: opts.onChannel !== undefined },
            openWayOut: () => this.#openWayOut(),
          },
        )
      : placeOnHost({ file, args, env }, opts.cwd, this.#options);
    const unsandboxed = policy?.sandbox ? NOT_SANDBOXED : '';
    let end: (reason: unknown) => void = () => {};
    let stopClock = () => {};
    const ended = () => {
      stopClock();
      place.ended?.();
    };
    try {
      allow(
        () => {
          stopClock = scope?.spendTime((error) => end(error)) ?? stopClock;
        },
        sandbox === undefined ? unsandboxed : SANDBOXED,
      );
      const { maxOutputBytes: cap = DEFAULT_MAX_OUTPUT_BYTES } = this.#options;
      const child = runChild(place.file, place.args, {
        name: binary,
        cwd: place.cwd,
        env: place.env,
        marks,
        timeoutMs: opts.timeout,
        maxOutputBytes: smaller(opts.maxOutputBytes, cap),
        overflow: opts.overflow,
        onOutput: opts.onOutput,
        signal: scope?.signal,
        keepsInput: opts.keepsInput,
        onChannel: opts.onChannel,
        sandbox: place.sandbox,
      });
      end = child.abandon;
      child.closed.then(ended);
      this.#endStragglersWithCall(child.pid);
      this.#options.onStarted?.(child);
      return child;
    } catch (error) {
      ended();
      throw error;
    } finally {
      place.release();
    }
  }

  /** One proxy for all sandboxes of the call. It is closed when the call ends. */
  #openWayOut(): Promise<ProxySocket> | undefined {
    const { network, scope } = this.#options;
    if (network === undefined || scope === undefined) return undefined;
    if (this.#wayOut === undefined) {
      const opening = import('./open-way-out.js').then(({ openWayOut }) =>
        openWayOut(network, scope),
      );
      this.#wayOut = opening;
      scope.onEnd(() => discard(opening.then((wayOut) => wayOut.close())));
    }
    return this.#wayOut;
  }

  // A daemon has closed the pipes and left the process group. Only its marks show which call
  // started it.
  #endStragglersWithCall(pid: number | undefined): void {
    if (pid === undefined || this.#sweeps) return;
    this.#sweeps = true;
    this.#marks ??= createCallMarks();
    const marks = this.#marks;
    this.#options.scope?.onEnd(() => endStragglers(pid, marks));
  }
}

/** A size that is not a valid number does not change the cap. */
function smaller(asked: unknown, cap: number): number {
  return typeof asked === 'number' && asked >= 0 && asked < cap ? asked : cap;
}
