import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { usageError } from './cli-error.js';
import type { ProgramToRun } from './cli-io.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a program of the operator with the input, output and signals of this process, and waits for
 * its end.
 *
 * @returns its exit code; 128 and the signal's number if a signal ended it
 * @throws `CONFIG_INVALID` if it can't be started
 */
export function runProgram({ command, env, outputToError }: ProgramToRun): Promise<number> {
  const [file = '', ...args] = command;
  const child = spawn(file, args, {
    env: { ...env },
    stdio: ['inherit', outputToError ? 2 : 'inherit', 'inherit'],
  });
  const forwards = SIGNALS.map((signal) => {
    // A terminal sends Ctrl-C to the whole group, so the program gets it directly.
    const isFromTerminal = signal === 'SIGINT' && process.stdin.isTTY === true;
    const forward = () => void (isFromTerminal || child.kill(signal));
    process.on(signal, forward);
    return () => process.off(signal, forward);
  });
  return new Promise<number>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      reject(usageError(`${file} can not be started (${error.code ?? 'unknown'})`));
    });
    child.once('close', (code, signal) => {
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  }).finally(() => {
    for (const stop of forwards) stop();
  });
}
