import { err } from '@ethosagent/plugin-sdk';
import {
  type ErrorCode,
  errorCodeOf,
  type ToolErrorCode,
  type ToolResult,
} from '@ethosagent/types';

const ANSWERS: Partial<Record<ErrorCode, [code: ToolErrorCode, nextStep: string]>> = {
  PATH_NOT_REACHABLE: ['execution_failed', 'Use a folder inside those that this agent was given.'],
  BINARY_NOT_ALLOWED: ['not_available', 'Go on without it: the operator has not allowed this.'],
  SPAWN_FAILED: ['not_available', 'Tell the user that bash could not be started.'],
  SANDBOX_UNAVAILABLE: ['not_available', 'Tell the user that this machine has no sandbox.'],
  QUOTA_EXCEEDED: [
    'execution_failed',
    'Do less in one call, or tell the user that the quota is used up.',
  ],
  TOO_MANY_PROCESSES: ['execution_failed', 'Stop one with terminal_stop first.'],
  PROCESS_NOT_FOUND: ['input_invalid', 'Give an id that terminal_start returned in this session.'],
  CALL_ENDED: ['execution_failed', 'Call the tool again.'],
  AUDIT_FAILED: [
    'execution_failed',
    'Tell the user that accesses can not be recorded, so none are allowed.',
  ],
};

/** Runs the body of a tool; what an accessor refused becomes its result. */
export async function withAccessFailures(body: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await body();
  } catch (error) {
    const code = errorCodeOf(error);
    const answer = code === undefined ? undefined : ANSWERS[code];
    if (answer === undefined || !(error instanceof Error)) throw error;
    return err(`${error.message.replace(/\.$/, '')}. ${answer[1]}`, answer[0]);
  }
}
