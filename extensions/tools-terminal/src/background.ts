import { err } from '@ethosagent/plugin-sdk';
import type { BackgroundProcess, ToolResult } from '@ethosagent/types';
import { z } from 'zod';
import { commandIn } from './shell.js';

/** The id of a background process in the arguments of a call. */
export const processId = z
  .string()
  .min(1)
  .max(200)
  .describe('The id of the command, from the answer of terminal_start.');

/** Returns the answer when the host allows no background processes. */
export function noBackground(): ToolResult {
  return err('This host leaves no processes running; use terminal.', 'not_available');
}

/** Returns the answer when the policy allows no keys to be sent to a command. */
export function noTerminal(): ToolResult {
  return err(
    'This personality runs commands without a shell, and what is typed into a program can not be held to that; leave pty out.',
    'not_available',
  );
}

/** Says the state of a process in a few words. */
export function stateOf(process: BackgroundProcess): string {
  const { id, state, exitCode, signal, error } = process;
  if (state === 'running') return `${id} is running`;
  if (error !== undefined) return `${id} has ended: ${error}`;
  if (signal !== undefined) return `${id} was ended by ${signal}, exit code ${exitCode}`;
  return `${id} has ended with exit code ${exitCode}`;
}

/** Returns the command that a process runs. */
export function commandOf({ args }: BackgroundProcess): string {
  return commandIn(args);
}

/** Returns the facts about a process, for `structured`. */
export function factsOf(process: BackgroundProcess): Record<string, unknown> {
  const { id, state, startedAt, endedAt, exitCode, signal, error } = process;
  return {
    id,
    command: commandOf(process),
    state,
    started_at: startedAt,
    ...(endedAt !== undefined && { ended_at: endedAt }),
    ...(exitCode !== undefined && { exit_code: exitCode }),
    ...(signal !== undefined && { signal }),
    ...(error !== undefined && { error }),
  };
}
