import { err } from '@ethosagent/plugin-sdk';
import { errorCodeOf, type ToolResult } from '@ethosagent/types';

const NEXT: Readonly<Record<string, string>> = {
  MEMORY_NOT_FOUND: 'Read the memory to see what is there.',
  MEMORY_AMBIGUOUS: 'Match more of the text, or name the section.',
  MEMORY_TOO_LARGE: 'Shorten the text, or remove what is no longer of use first.',
  MEMORY_CHANGED: 'Read it again, then change it.',
  STORE_UNAVAILABLE: 'Try again later.',
};

/** Runs a tool; what a memory or a session store refuses becomes a result that says what to do. */
export async function withMemoryFailures(run: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await run();
  } catch (error) {
    const failure = memoryFailure(error);
    if (failure === undefined) throw error;
    return failure;
  }
}

function memoryFailure(error: unknown): ToolResult | undefined {
  const code = errorCodeOf(error);
  if (code === undefined || !(error instanceof Error)) return undefined;
  if (code === 'MEMORY_SCOPE_NOT_AVAILABLE' || code === 'MEMORY_NOT_WRITABLE') {
    return err(error.message, 'not_available');
  }
  // A text that a memory of this kind can't hold, such as a heading in a Markdown file.
  if (code === 'VALUE_INVALID') return err(error.message, 'input_invalid');
  const next = NEXT[code];
  if (next === undefined) return undefined;
  return err(`${error.message}. ${next}`, code === 'MEMORY_CHANGED' ? 'STALE_WRITE' : undefined);
}
