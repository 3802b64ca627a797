import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { EthosError, type ProcessResult } from '@ethosagent/types';
import { LONGEST_TIMER_MS } from '../timer.js';
import { CappedOutput } from './capped-output.js';
import type { BaseEnvironment } from './environment.js';
import { withoutInherited } from './inherited.js';
import { endProcessTree, isGroupAlive, KILL_GRACE_MS } from './process-tree.js';
import { SandboxOutcome } from './sandbox-outcome.js';

/** How a child is to run. What may run, and where, was decided before. */
export interface ChildOptions {
  /** What the child is called in errors and, unless it is sandboxed, in its own eyes. */
  name: string;
  cwd: string | undefined;
  env: BaseEnvironment;
  /** What its environment carries, so that its descendants are found. */
  tag: string;
  timeoutMs: number | undefined;
  maxOutputBytes: number;
  signal: AbortSignal | undefined;
  /** Of a child that is a sandbox: what it gets from the fourth on. */
  descriptors?: readonly number[] | undefined;
}

/** A child, followed to its end. */
export interface RunningChild {
  /** `undefined` when it could not be started. */
  pid: number | undefined;
  /** Rejects with `SPAWN_FAILED`, the reason of `signal`, or what `end` was given. */
  result: Promise<ProcessResult>;
  /** Ends the whole tree, and rejects with `reason`. */
  end(reason: unknown): void;
}

/** Starts a child as the leader of its own process group and follows it to its end. */
export function runChild(
  file: string,
  args: readonly string[],
  options: ChildOptions,
): RunningChild {
  const { name, cwd, env, tag, timeoutMs, maxOutputBytes, signal, descriptors } = options;
  const child: ChildProcess = spawn(file, args, {
    ...(descriptors === undefined && { argv0: name }),
    ...(cwd !== undefined && { cwd }),
    env,
    detached: true,
    shell: false,
    stdio:
      descriptors === undefined
        ? ['ignore', 'pipe', 'pipe']
        : withoutInherited(['pipe', 'pipe', 'pipe', ...descriptors]),
    windowsHide: true,
  });
  let endWith: (reason: unknown) => void = () => {};
  const result = new Promise<ProcessResult>((resolve, reject) => {
    const stdout = new CappedOutput(maxOutputBytes);
    const stderr = new CappedOutput(maxOutputBytes);
    let timedOut = false;
    let ending = false;
    // One that is ended is not told to go on; one that has died already does not hear it.
    child.stdin?.on('error', () => {});
    const sandbox = descriptors && new SandboxOutcome((go) => ending || child.stdin?.end(go));
    const end = () => {
      if (ending || child.pid === undefined) return;
      ending = true;
      endProcessTree(child.pid, tag, () => {
        // Whoever still holds the pipes is beyond reach; nobody waits for it.
        for (const pipe of child.stdio) pipe?.destroy();
      });
    };
    endWith = (reason) => {
      end();
      reject(reason);
    };
    child.stdout?.on('data', (chunk: Buffer) => stdout.add(chunk) || end());
    child.stderr?.on(
      'data',
      (chunk: Buffer) => stderr.add(sandbox?.ofCommand(chunk) ?? chunk) || end(),
    );
    const deadline = startTimer(timeoutMs, () => {
      timedOut = true;
      end();
    });
    const onAbort = () => endWith(signal?.reason);
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
      reject(new EthosError('SPAWN_FAILED', `${name} could not be started`, { cause }));
    });
    child.once('exit', () => {
      // What the leader left behind would hold the pipes, and outlive the call.
      if (child.pid !== undefined && isGroupAlive(child.pid)) end();
      else leftBehind = setTimeout(end, KILL_GRACE_MS);
    });
    child.once('close', (code, endedBy) => {
      settled();
      const failed = endedBy === null ? sandbox?.failure(code, stderr.text()) : undefined;
      if (failed !== undefined) {
        const text = `${name} could not be started in its sandbox`;
        reject(new EthosError('SPAWN_FAILED', text, { cause: new Error(failed) }));
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
  return { pid: child.pid, result, end: (reason) => endWith(reason) };
}

function startTimer(ms: number | undefined, run: () => void): NodeJS.Timeout | undefined {
  if (ms === undefined || !(ms > 0)) return undefined;
  return setTimeout(run, Math.min(ms, LONGEST_TIMER_MS));
}
