import { showInvisible, withoutControls } from '@ethosagent/policy';
import { SCREEN } from '../shell.js';

/** The content of a terminal's screen. */
export interface Screen {
  text: string;
  /** The place of the cursor, with row and column counted from 1. */
  cursor: { row: number; column: number };
}

/**
 * Returns the screen of a terminal after all output of a program. It has only characters: colours,
 * titles, links, the clipboard and questions to the terminal stay in the emulator.
 */
export async function screenOf(text: string): Promise<Screen> {
  const { default: xterm } = await import('@xterm/headless');
  const terminal = new xterm.Terminal({
    cols: SCREEN.columns,
    rows: SCREEN.rows,
    scrollback: 0,
    allowProposedApi: true,
  });
  try {
    await new Promise<void>((resolve) => terminal.write(text, resolve));
    const { active } = terminal.buffer;
    const lines = Array.from({ length: SCREEN.rows }, (_none, row) =>
      withoutControls(active.getLine(active.baseY + row)?.translateToString(true) ?? ''),
    );
    return {
      text: showInvisible(lines.join('\n')).replace(/\n+$/, ''),
      cursor: { row: active.cursorY + 1, column: active.cursorX + 1 },
    };
  } finally {
    terminal.dispose();
  }
}
