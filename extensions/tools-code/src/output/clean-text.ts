import { plainLines, showInvisible, withoutControls, withoutEscapes } from '@ethosagent/policy';

// The lines that run_code itself writes around the output of a snippet.
const OWN_LINE =
  /^(?=\\*(?:\[(?:standard error\]$|it printed nothing\]$|ended by |exit code \d|\d+ characters left out\]$)|it did not end within ))/gm;

/**
 * Makes everything in a text visible. It removes escape sequences and control characters, puts
 * overwritten text on a line of its own, and shows invisible characters by their number.
 */
export function cleanText(text: string): string {
  // 8-bit control sequences are rare. Their control character is removed, and the rest is shown.
  const plain = withoutEscapes(text.replace(/[\u0080-\u009f]/g, ''));
  return showInvisible(withoutControls(plainLines(plain)));
}

/** Puts a backslash before lines that look like lines of `run_code`. */
export function quoteFrames(text: string): string {
  return text.replace(OWN_LINE, '\\');
}
