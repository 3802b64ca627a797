import { err, ok } from '@ethosagent/plugin-sdk';
import type { BackgroundProcesses, ToolResult } from '@ethosagent/types';
import { factsOf, stateOf } from './background.js';
import { screenOf } from './output/screen.js';
import { quoteFrames } from './quote-frames.js';
import { isInTerminal } from './shell.js';

/** How many characters are read: as many as are kept of one process. */
const ALL_CHARS = 1_000_000;

/** Returns the result with the screen of a command that runs in a terminal. */
export async function screenResult(
  background: BackgroundProcesses,
  id: string,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { process, chunks, cursor } = await background.read(id, { maxChars: ALL_CHARS });
  if (!isInTerminal(process.args)) {
    return err(`${id} runs in no terminal; start it with pty to have a screen`, 'input_invalid');
  }
  const screen = await screenOf(chunks.map(({ text }) => text).join(''), signal);
  const { row, column } = screen.cursor;
  const lines = [
    `${stateOf(process)}; read on from cursor ${cursor}`,
    `[the screen; the cursor is in row ${row}, column ${column}]`,
    quoteFrames(screen.text) || '(no output yet)',
  ];
  return ok(lines.join('\n'), {
    structured: { ...factsOf(process), cursor, screen: screen.text, screen_cursor: screen.cursor },
  });
}
