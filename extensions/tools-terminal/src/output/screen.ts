import { showInvisible, withoutControls } from '@ethosagent/policy';
import type * as Xterm from '@xterm/headless';
import { SCREEN } from '../shell.js';
import { capNumbers } from './cap-numbers.js';
import { withoutLastLineEnds } from './without-last-line-ends.js';

/** The emulator blocks the event loop while it reads one piece. */
const PIECE_CHARS = 4_096;
/** Sets colours, in time that grows with the square of their number. */
const COLOURS = 4;

/** Programs that run by tsx get the package's ES module, which has no default export. */
async function loadTerminal(): Promise<typeof Xterm.Terminal> {
  const loaded: Pick<typeof Xterm, 'Terminal'> & { default?: typeof Xterm } = await import(
    '@xterm/headless'
  );
  return loaded.default?.Terminal ?? loaded.Terminal;
}

/** The content of a terminal's screen. */
export interface Screen {
  text: string;
  /** The place of the cursor, with row and column counted from 1. */
  cursor: { row: number; column: number };
}

/**
 * Returns the screen of a terminal after all output of a program. It has only characters: colours,
 * titles, links, the clipboard and questions to the terminal stay in the emulator. A program can
 * make this take seconds, so other work goes on meanwhile, and `signal` ends it.
 */
export async function screenOf(text: string, signal: AbortSignal): Promise<Screen> {
  const Terminal = await loadTerminal();
  const terminal = new Terminal({
    cols: SCREEN.columns,
    rows: SCREEN.rows,
    scrollback: 0,
    allowProposedApi: true,
  });
  try {
    terminal.parser.registerOscHandler(COLOURS, () => true);
    const written = capNumbers(text, Math.max(SCREEN.columns, SCREEN.rows));
    for (let at = 0; at < written.length; at += PIECE_CHARS) {
      signal.throwIfAborted();
      const piece = written.slice(at, at + PIECE_CHARS);
      await new Promise<void>((resolve) => terminal.write(piece, resolve));
    }
    const { active } = terminal.buffer;
    const lines = Array.from({ length: SCREEN.rows }, (_none, row) =>
      withoutControls(active.getLine(active.baseY + row)?.translateToString(true) ?? ''),
    );
    return {
      text: withoutLastLineEnds(showInvisible(lines.join('\n'))),
      cursor: { row: active.cursorY + 1, column: active.cursorX + 1 },
    };
  } finally {
    terminal.dispose();
  }
}
