import { plainLines, showInvisible, withoutControls, withoutEscapes } from '@ethosagent/policy';

// The lines that run_code itself writes around what a snippet prints.
const OWN_LINE =
  /^(?=\\*(?:\[(?:standard error\]$|it printed nothing\]$|ended by |exit code \d|\d+ characters left out\]$)|it did not end within ))/gm;

/**
 * A text that shows what it holds: without escape sequences and controls, what was written over as
 * a line of its own, and what can't be seen by its number.
 */
export function cleanText(text: string): string {
  // What follows the controls of one unit, which few programs write, is shown.
  const plain = withoutEscapes(text.replace(/[\u0080-\u009f]/g, ''));
  return showInvisible(withoutControls(plainLines(plain)));
}

/** Puts a backslash before lines that would pass for those of `run_code`. */
export function quoteFrames(text: string): string {
  return text.replace(OWN_LINE, '\\');
}
