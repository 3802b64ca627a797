import { type FailureAnswers, withFailures } from '@ethosagent/plugin-sdk';
import type { ToolResult } from '@ethosagent/types';

const ANSWERS: FailureAnswers = {
  PATH_NOT_REACHABLE: 'Give cwd a folder that exists, inside those that this agent was given.',
  SPAWN_FAILED: ['not_available', 'Tell the user that bash could not be started.'],
  TOO_MANY_PROCESSES: 'Stop one with terminal_stop first.',
  PROCESS_ENDED: 'Start it with pty, to have it take keys.',
  PROCESS_NOT_FOUND: 'Give an id that terminal_start returned in this session.',
};

/** Runs the body of a tool. When an accessor refuses, that becomes the result. */
export function withAccessFailures(body: () => Promise<ToolResult>): Promise<ToolResult> {
  return withFailures(ANSWERS, body);
}
