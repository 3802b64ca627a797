import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { EthosError, type ProcessResult } from '@ethosagent/types';
import { LONGEST_TIMER_MS } from '../timer.js';
import { CappedOutput } from './capped-output.js';
import { endProcessTree, isGroupAlive, KILL_GRACE_MS } from './process-tree.js';

/** How a child is to run. What may run, and where, was decided before. */
export interface ChildOptions {
  /** What the child is called, in its own eyes and in errors. */
  name: string;
  cwd: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
  /** What its environment carries, so that its descendants are found. */
  tag: string;
  timeoutMs: number | undefined;
  maxOutputBytes: number;
  signal: AbortSignal | undefined;
}

/**
 * Starts a child as the leader of its own process group and follows it to its end.
 *
 * @returns the process id, unless it could not be started, and a promise of the result, which
 * rejects with `SPAWN_FAILED` or the reason of `signal`
 */
export function runChild(
  file: string,
  args: readonly string[],
  options: ChildOptions,
): { pid: number | undefined; result: Promise<ProcessResult> } {
  const { name, cwd, env, tag, timeoutMs, maxOutputBytes, signal } = options;
  const child = spawn(file, args, {
    argv0: name,
    ...(cwd !== undefined && { cwd }),
    env,
    detached: true,
    shell: false,
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
  const result = new Promise<ProcessResult>((resolve, reject) => {
    const stdout = new CappedOutput(maxOutputBytes);
    const stderr = new CappedOutput(maxOutputBytes);
    let timedOut = false;
    let ending = false;
    const end = () => {
      if (ending || child.pid === undefined) return;
      ending = true;
      endProcessTree(child.pid, tag, () => {
        // Whoever still holds the pipes is beyond reach; nobody waits for it.
        child.stdout?.destroy();
        child.stderr?.destroy();
      });
    };
    child.stdout?.on('data', (chunk: Buffer) => stdout.add(chunk) || end());
    child.stderr?.on('data', (chunk: Buffer) => stderr.add(chunk) || end());
    const deadline = startTimer(timeoutMs, () => {
      timedOut = true;
      end();
    });
    const onAbort = () => {
      end();
      reject(signal?.reason);
    };
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
      resolve({
        exitCode: code ?? 128 + (endedBy === null ? 0 : constants.signals[endedBy]),
        stdout: stdout.text(),
        stderr: stderr.text(),
        ...(endedBy !== null && { signal: endedBy }),
        ...(timedOut && { timedOut }),
        ...((stdout.truncated || stderr.truncated) && { truncated: true }),
      });
    });
  });
  return { pid: child.pid, result };
}

function startTimer(ms: number | undefined, run: () => void): NodeJS.Timeout | undefined {
  if (ms === undefined || !(ms > 0)) return undefined;
  return setTimeout(run, Math.min(ms, LONGEST_TIMER_MS));
}
