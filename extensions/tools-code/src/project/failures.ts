import { err } from '@ethosagent/plugin-sdk';
import { type ErrorCode, errorCodeOf, type ToolResult } from '@ethosagent/types';

const NEXT_STEP: Partial<Record<ErrorCode, string>> = {
  PATH_NOT_REACHABLE: 'Use a path inside the folders that this agent was given.',
  BINARY_NOT_ALLOWED: 'Go on without it: the operator has not allowed this program.',
  PATH_INVALID: 'Give a path without NUL or broken characters, and shorter than 4,096 bytes.',
  PERMISSION_DENIED: 'Use another path, or ask the user to change the permissions.',
  NOT_A_DIRECTORY: 'A file stands where a folder is needed: give another path.',
  STORAGE_FAILED: 'Try once more; if it fails again, tell the user.',
  SPAWN_FAILED: 'Tell the user that the program could not be started.',
  QUOTA_EXCEEDED: 'Tell the user that the quota of this agent is used up.',
  AUDIT_FAILED: 'Tell the user that accesses can not be recorded, so none are allowed.',
  CALL_ENDED: 'Call the tool again.',
};

/** Runs the body of a tool; what an accessor refused becomes its result, other errors are thrown. */
export async function withFailures(body: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await body();
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === undefined || !(error instanceof Error)) throw error;
    if (code === 'SANDBOX_UNAVAILABLE') return err(error.message, 'not_available');
    const nextStep = NEXT_STEP[code];
    if (nextStep === undefined) throw error;
    return err(`${error.message.replace(/\.$/, '')}. ${nextStep}`);
  }
}
