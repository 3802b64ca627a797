import { type FailureAnswers, withFailures } from '@ethosagent/plugin-sdk';
import type { ToolResult } from '@ethosagent/types';

const ANSWERS: FailureAnswers = {
  MEMORY_NOT_FOUND: 'Read the memory to see what is there.',
  MEMORY_AMBIGUOUS: 'Match more of the text, or name the section.',
  MEMORY_TOO_LARGE: 'Shorten the text, or remove what is no longer of use first.',
  MEMORY_CHANGED: ['STALE_WRITE', 'Read it again, then change it.'],
  // The provider can't store this text, e.g. a heading inside a section of a Markdown file.
  VALUE_INVALID: ['input_invalid', ''],
  STORE_UNAVAILABLE: 'Try again later.',
};

/** Runs a tool. An error of a memory or a session store becomes a result that says what to do. */
export function withMemoryFailures(run: () => Promise<ToolResult>): Promise<ToolResult> {
  return withFailures(ANSWERS, run);
}
