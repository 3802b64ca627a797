import { type FailureAnswers, withFailures } from '@ethosagent/plugin-sdk';
import type { ToolResult } from '@ethosagent/types';

const ANSWERS: FailureAnswers = {
  PATH_INVALID: 'Give a path without NUL or broken characters, and shorter than 4,096 bytes.',
  PERMISSION_DENIED: 'Use another path, or ask the user to change the permissions.',
  NOT_A_DIRECTORY: 'A file stands where a folder is needed: give another path.',
  STORAGE_FAILED: 'Try once more; if it fails again, tell the user.',
  SPAWN_FAILED: 'Tell the user that the program could not be started.',
};

/**
 * Runs the body of a tool. When an accessor refuses, that becomes the result. It throws other
 * errors.
 */
export function withAccessFailures(body: () => Promise<ToolResult>): Promise<ToolResult> {
  return withFailures(ANSWERS, body);
}
