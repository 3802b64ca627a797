import { err } from '@ethosagent/plugin-sdk';
import { type ErrorCode, errorCodeOf, type ToolResult } from '@ethosagent/types';

const NEXT_STEP: Partial<Record<ErrorCode, string>> = {
  PATH_NOT_REACHABLE: 'Use a path inside the folders that this agent was given.',
  BINARY_NOT_ALLOWED: 'Go on without it: the operator has not allowed this program.',
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
  CALL_ENDED: 'Call the tool again.',
  AUDIT_FAILED: 'Tell the user that accesses can not be recorded, so none are allowed.',
};

/**
 * Turns what an accessor or a storage refused into a result that a model can act on.
 *
 * @param error what was thrown: a `BoundaryError`, `PATH_NOT_REACHABLE` of `ScopedFs`, or another
 * typed error of files and processes; told apart by its code
 * @returns `execution_failed` with the reason and what to do next, or `undefined` for any other
 * error, which the caller should throw again
 */
export function boundaryFailure(error: unknown): ToolResult | undefined {
  const code = errorCodeOf(error);
  const nextStep = code === undefined ? undefined : NEXT_STEP[code];
  if (nextStep === undefined || !(error instanceof Error)) return undefined;
  return err(`${error.message.replace(/\.$/, '')}. ${nextStep}`);
}

/** Runs the body of a tool; what was refused becomes its result. */
export async function withBoundaryFailures(body: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await body();
  } catch (error) {
    const failure = boundaryFailure(error);
    if (failure === undefined) throw error;
    return failure;
  }
}
