import { type FailureAnswers, failureOf, withFailures } from '@ethosagent/plugin-sdk';
import type { ToolResult } from '@ethosagent/types';

const ANSWERS: FailureAnswers = {
  FILE_NOT_FOUND: 'Find the right path with search_files.',
  NOT_A_FILE: 'Give the path of a regular file; search_files lists those in a folder.',
  NOT_A_DIRECTORY: 'A file stands where a folder is needed: give another path.',
  FILE_TOO_LARGE: 'Look for the part that matters with search_files.',
  PATH_INVALID: 'Give a path without NUL or broken characters, and shorter than 4,096 bytes.',
  PERMISSION_DENIED: 'Use another path, or ask the user to change the permissions.',
  DISK_FULL: 'Ask the user to free space on the disk; the old content is unharmed.',
  READ_ONLY: 'Use a path on another file system, or ask the user.',
  ALREADY_EXISTS: 'Use another path, or remove what is there first.',
  STORAGE_FAILED: 'Try once more; if it fails again, tell the user.',
  SPAWN_FAILED: 'Tell the user that the program could not be started.',
};

/**
 * Turns an error of a file access or a process into a tool result. Its message has the error code,
 * and says what to do next.
 *
 * @param error the value that was thrown
 * @returns a failed result; `undefined` for any other error, which the caller should throw again
 */
export function boundaryFailure(error: unknown): ToolResult | undefined {
  return failureOf(error, ANSWERS);
}

/** Runs the body of a tool. An error that `boundaryFailure` knows becomes its result. */
export function withBoundaryFailures(body: () => Promise<ToolResult>): Promise<ToolResult> {
  return withFailures(ANSWERS, body);
}
