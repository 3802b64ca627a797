import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { MAX_TIMER_MS } from '@ethosagent/policy';
import { EthosError, type ProcessResult, type SpawnOpts } from '@ethosagent/types';
import { CHANNEL_DESCRIPTOR, ChildChannel } from './child-channel.js';
import { ChildInput } from './child-input.js';
import { ChildOutput, type ChildOutputOptions } from './child-output.js';
import { withoutInherited } from './cover-inherited.js';
import { noteEnding } from './ending-processes.js';
import type { BaseEnvironment } from './environment.js';
import { missingInterpreter } from './find-binary.js';
import { endKnown, type KnownProcess, namespaceInits } from './namespace-inits.js';
import { type ProcessMarks, TAG_VARIABLE } from './process-marks.js';
import { endProcessTree, isGroupAlive, KILL_GRACE_MS } from './process-tree.js';
import type { SandboxedCommand } from './sandbox/sandbox.js';
import { hostSupervisor } from './supervisor/supervisor.js';

/**
 * How many milliseconds a slow reader gets for the last output of a process that ran out of time.
 */
const MAX_READ_ON_MS = 1_000;

/** The cause of the error says why: it may name paths, which only the host is told. */
const NOT_STARTED =
  'could not be started, so it did not run; ask the operator whether it works here';

/** The options of a child. The caller has already decided that it may run, and where. */
export interface ChildOptions {
  /** The name of the child in errors. Without a sandbox, the child also gets it as its own name. */
  name: string;
  cwd: string | undefined;
  env: BaseEnvironment;
  /**
   * The marks of the call, from `createCallMarks`. They are put on the child, so that its
   * descendants can be found.
   */
  marks: ProcessMarks;
  timeoutMs: number | undefined;
  maxOutputBytes: number;
  overflow: SpawnOpts['overflow'];
  onOutput: SpawnOpts['onOutput'];
  signal: AbortSignal | undefined;
  /** Whether the child's standard input stays open. Closed when absent. */
  keepsInput?: boolean | undefined;
  onChannel?: SpawnOpts['onChannel'];
  /** The sandbox of the child, if `file` is a sandbox program. */
  sandbox?: Pick<SandboxedCommand, 'descriptors' | 'observe'> | undefined;
}

/** A child, from its start to its end. */
export interface RunningChild {
  /** The process id; `undefined` if the child could not be started. */
  pid: number | undefined;
  /** The child's standard input, if it stays open. */
  input: ChildInput | undefined;
  /**
   * Resolves when the child has ended. Rejects with `SPAWN_FAILED`, with the reason of `signal`, or
   * with the `reason` given to `abandon`.
   */
  result: Promise<ProcessResult>;
  /** Ends the whole process tree, and rejects `result` with `reason`. */
  abandon(reason: unknown): void;
  /** Ends the whole process tree. `result` says how it ended. */
  stop(): void;
  /**
   * Resolves when the child runs. If it can't be started, this never resolves, and `result`
   * rejects.
   */
  started: Promise<void>;
  /** Resolves when the child has exited and its pipes are closed, or could not be started. */
  closed: Promise<void>;
}

/**
 * Starts a child as the leader of its own process group, and follows it to its end. @throws
 * `SPAWN_FAILED` if the interpreter of a script is missing, or the system refuses to start it at once
 */
export function runChild(
  file: string,
  args: readonly string[],
  options: ChildOptions,
): RunningChild {
  const { name, cwd, env, marks, timeoutMs, maxOutputBytes, signal } = options;
  const keepsInput = options.keepsInput === true;
  const supervisor = hostSupervisor();
  const { descriptor, limit } = supervisor.begin();
  // A process in a sandbox needs no mark: the sandbox ends everything in it.
  const mark = options.sandbox === undefined ? limit : undefined;
  if (mark !== undefined) assertStartable(file, name);
  const command = mark?.wrap(file, args, { name, path: env.PATH ?? '' });
  if (command !== undefined) marks.addLimit(command.limit);
  const child = start(name, () =>
    spawn(command?.file ?? file, command?.args ?? args, {
      ...(options.sandbox === undefined && { argv0: command?.argv0 ?? name }),
      ...(cwd !== undefined && { cwd }),
      env: { ...env, [TAG_VARIABLE]: marks.tag },
      detached: true,
      shell: false,
      stdio: stdioOf(options, descriptor),
      windowsHide: true,
    }),
  );
  const { pid } = child;
  if (pid !== undefined) {
    supervisor.add(pid);
    child.once('close', () => supervisor.forget(pid));
  }
  const input = keepsInput ? new ChildInput(child.stdin, name) : undefined;
  const channel = options.onChannel && new ChildChannel(child.stdio[CHANNEL_DESCRIPTOR], name);
  const on = (event: string) => new Promise<void>((resolve) => child.once(event, () => resolve()));
  const closed = Promise.race([on('close'), on('error')]);
  let abandon: (reason: unknown) => void = () => {};
  let stop = () => {};
  const result = new Promise<ProcessResult>((resolve, reject) => {
    let timedOut = false;
    let ending = false;
    let isAbandoned = false;
    let hasGroup = true;
    let inits: readonly KnownProcess[] = [];
    // Writing to a child that has ended gives an error. It needs no handling.
    child.stdin?.on('error', () => {});
    const sandbox = options.sandbox?.observe?.((answer) => {
      if (ending) return;
      inits = pid === undefined ? [] : namespaceInits(pid);
      for (const init of inits) supervisor.add(init.pid);
      if (input === undefined) child.stdin?.end(answer);
      else input.begin(answer);
    });
    if (sandbox === undefined) input?.begin();
    const prefix = mark?.observe();
    const closePipes = () => {
      // Waits for output that was written before the end, unless nobody wants it any more.
      if (!isAbandoned && isDraining()) {
        setTimeout(closePipes, KILL_GRACE_MS);
        return;
      }
      // A process that still holds the pipes can't be reached, and is not waited for.
      for (const pipe of child.stdio) pipe?.destroy();
    };
    const end = () => {
      if (ending || child.pid === undefined) return;
      ending = true;
      noteEnding(closed);
      // Called while the process that made them still exists, so that their ids are still theirs.
      endKnown(inits);
      endProcessTree(child.pid, marks, { hasGroup, done: closePipes });
    };
    stop = end;
    abandon = (reason) => {
      isAbandoned = true;
      for (const output of outputs) output.silence();
      end();
      reject(reason);
    };
    const outputOf = (name: 'stdout' | 'stderr', ofCommand: ChildOutputOptions['ofCommand']) =>
      new ChildOutput(child[name], {
        name,
        maxBytes: maxOutputBytes,
        overflow: options.overflow,
        onOutput: options.onOutput,
        ofCommand,
        onOver: end,
        onFailure: (error) => abandon(error),
      });
    const stdout = outputOf('stdout', (chunk) => chunk);
    const stderr = outputOf('stderr', (chunk) => (sandbox ?? prefix)?.ofCommand(chunk) ?? chunk);
    const outputs = [stdout, stderr];
    // Every output is asked: each call of `isDraining` updates its state.
    const isDraining = () => outputs.filter((output) => output.isDraining()).length > 0;
    const deadline = startTimer(timeoutMs, () => {
      timedOut = true;
      end();
    });
    if (channel !== undefined) {
      try {
        options.onChannel?.(channel);
      } catch (error) {
        abandon(error);
      }
    }
    const onAbort = () => abandon(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
    let leftBehind: NodeJS.Timeout | undefined;
    const settled = () => {
      clearTimeout(deadline);
      clearTimeout(leftBehind);
      signal?.removeEventListener('abort', onAbort);
    };
    child.once('error', (cause) => {
      settled();
      reject(new EthosError('SPAWN_FAILED', `${name} ${NOT_STARTED}`, { cause }));
    });
    const endLeftBehind = () => {
      if (isDraining()) {
        leftBehind = setTimeout(endLeftBehind, KILL_GRACE_MS);
      } else end();
    };
    child.once('exit', () => {
      for (const output of outputs) output.exited();
      // Other processes that still hold the child's end are cut off.
      channel?.close();
      endKnown(inits);
      hasGroup = child.pid !== undefined && isGroupAlive(child.pid);
      // Processes that the leader left behind would keep the pipes open, and outlive the call.
      if (hasGroup) end();
      else leftBehind = setTimeout(endLeftBehind, KILL_GRACE_MS);
    });
    child.once('close', async (code, endedBy) => {
      clearTimeout(deadline);
      clearTimeout(leftBehind);
      ending = true;
      for (const init of inits) supervisor.forget(init.pid);
      await handedOn(outputs, timedOut);
      settled();
      const failed = endedBy === null ? sandbox?.failure(code, stderr.text()) : undefined;
      if (failed !== undefined) {
        const text = `${name} could not be started in its sandbox, so it did not run; ask the operator to try "ethosagent doctor"`;
        reject(new EthosError('SPAWN_FAILED', text, { cause: new Error(failed) }));
        return;
      }
      const unmarked = prefix?.failure();
      if (unmarked !== undefined) {
        const cause = new Error(unmarked);
        reject(new EthosError('SPAWN_FAILED', `${name} ${NOT_STARTED}`, { cause }));
        return;
      }
      const ended = endedBy ?? sandbox?.signal(code);
      resolve({
        exitCode: code ?? 128 + (endedBy === null ? 0 : constants.signals[endedBy]),
        stdout: stdout.text(),
        stderr: stderr.text(),
        ...(ended !== undefined && { signal: ended }),
        ...(timedOut && { timedOut }),
        ...((stdout.truncated || stderr.truncated) && { truncated: true }),
      });
    });
  });
  return {
    pid: child.pid,
    input,
    result,
    abandon: (reason) => abandon(reason),
    stop: () => stop(),
    started: on('spawn'),
    closed,
  };
}

/** Node throws some errors of a start, and emits the others. */
function start(name: string, spawnChild: () => ChildProcess): ChildProcess {
  try {
    return spawnChild();
  } catch (cause) {
    const isTooLong = Object(cause).code === 'E2BIG';
    const text = isTooLong
      ? `the arguments or the environment of ${name} are longer than the system allows, so it did not run; shorten them, for example by passing a long text in a file`
      : `${name} ${NOT_STARTED}`;
    throw new EthosError('SPAWN_FAILED', text, { cause });
  }
}

/**
 * The program that marks a process starts before the child's own program. So a missing program
 * would still look like a start. This checks it before.
 */
function assertStartable(file: string, name: string): void {
  const missing = missingInterpreter(file);
  if (missing === undefined) return;
  const cause = new Error(`its interpreter ${missing} is not there`);
  throw new EthosError('SPAWN_FAILED', `${name} ${NOT_STARTED}`, { cause });
}

/**
 * Waits until the reader has got the output. If the process ran out of time, it waits only briefly.
 */
async function handedOn(outputs: readonly ChildOutput[], timedOut: boolean): Promise<void> {
  const reading = Promise.all(outputs.map((output) => output.handedOn()));
  const late = timedOut && new Promise<void>((resolve) => setTimeout(resolve, MAX_READ_ON_MS));
  await (late ? Promise.race([reading, late]) : reading);
}

function stdioOf(
  { keepsInput, sandbox, onChannel }: ChildOptions,
  mark: number | undefined,
): StdioOptions {
  // A sandbox that waits for an answer needs a standard input, even if the command has none.
  const input = keepsInput === true || sandbox?.observe !== undefined ? 'pipe' : 'ignore';
  const own: ('ignore' | 'pipe')[] = onChannel === undefined ? [] : ['ignore', 'pipe'];
  if (sandbox === undefined) {
    const marks = mark === undefined ? own.slice(0, 1) : [mark];
    return withoutInherited([input, 'pipe', 'pipe', ...marks, ...own.slice(1)]);
  }
  return withoutInherited([input, 'pipe', 'pipe', ...own, ...(sandbox.descriptors ?? [])]);
}

function startTimer(ms: number | undefined, run: () => void): NodeJS.Timeout | undefined {
  if (ms === undefined || !(ms > 0)) return undefined;
  return setTimeout(run, Math.min(ms, MAX_TIMER_MS));
}
