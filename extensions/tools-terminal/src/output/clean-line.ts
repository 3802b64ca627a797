import { INVISIBLE_CLASS, showInvisible } from '@ethosagent/policy';
import stripAnsi from 'strip-ansi';
import { tellsOfFailure } from '../reducer/failure-lines.js';

const ESCAPE = String.fromCharCode(0x1b);
// Strings that a terminal takes for itself: titles, links, graphics. Only whole ones: of one that
// never ends, a terminal may show nothing, but a reader must not miss what stands there.
const CONTROL_STRINGS = new RegExp(
  `${ESCAPE}[\\]PX^_][^\\u0007${ESCAPE}]{0,4096}(?:\\u0007|${ESCAPE}\\\\)`,
  'g',
);
const STRING_STARTS = new RegExp(`${ESCAPE}[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f]`, 'g');
// What is left of escape sequences, and C0 and C1 controls except the tab and the ends of lines.
const CONTROLS = new RegExp(
  `${ESCAPE}[ -/]*[0-~]?|[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]`,
  'g',
);
const NEEDS_CLEANING = new RegExp(`(?![\\t\\n])[\\p{Cc}\\u2028\\u2029${INVISIBLE_CLASS}]`, 'u');
/** How many overwritten states are kept as lines. */
const MAX_OVERWRITTEN = 20;

/** Whether `cleanLine` would change a line of a text. */
export function needsCleaning(text: string): boolean {
  return NEEDS_CLEANING.test(text);
}

/**
 * Returns one line as a terminal would show it: without colours, and with only the last state of a
 * progress bar. Overwritten text that tells of a failure is kept, as a line before it.
 */
export function cleanLine(line: string): string {
  if (!needsCleaning(line)) return line;
  const plain = stripAnsi(line.replace(CONTROL_STRINGS, '').replace(STRING_STARTS, ''));
  const states = plain.split('\r');
  const last = states.findLastIndex((state) => state.trim() !== '');
  const shown = backspaced(states[last] ?? '');
  return showInvisible(
    [...overwritten(states, last, shown), shown].join('\n').replace(CONTROLS, ''),
  );
}

function overwritten(states: readonly string[], last: number, shown: string): string[] {
  const kept: string[] = [];
  let before = '';
  const keep = (text: string) => {
    // The states of a progress bar differ in numbers.
    const shape = text.replaceAll(/\d+/g, '0').trim();
    if (shape === before || !tellsOfFailure(text)) return;
    before = shape;
    kept.push(text);
  };
  for (const [at, state] of states.entries()) {
    if (kept.length >= MAX_OVERWRITTEN) break;
    if (at < last) keep(withoutGoingBack(state));
  }
  const whole = withoutGoingBack(states[last] ?? '');
  if (whole !== shown && !tellsOfFailure(shown)) keep(whole);
  return kept;
}

function withoutGoingBack(line: string): string {
  return line.split('\b').filter(Boolean).join(' ');
}

function backspaced(line: string): string {
  if (!line.includes('\b')) return line;
  const characters: string[] = [];
  for (const character of line) {
    if (character === '\b') characters.pop();
    else characters.push(character);
  }
  return characters.join('');
}
