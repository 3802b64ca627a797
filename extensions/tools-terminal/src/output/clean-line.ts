import stripAnsi from 'strip-ansi';

const ESCAPE = String.fromCharCode(0x1b);
// Strings that a terminal takes for itself: titles, links, graphics.
const CONTROL_STRINGS = new RegExp(
  `${ESCAPE}[\\]PX^_][^\\u0007${ESCAPE}]*(?:\\u0007|${ESCAPE}\\\\)?`,
  'g',
);
const CONTROL_CHARACTERS = '\\u0000-\\u0008\\u000a-\\u001f\\u007f-\\u009f';
// What is left of escape sequences, and C0 and C1 controls except the tab.
const CONTROLS = new RegExp(
  `${ESCAPE}[ -/]*[0-~]?|[\\u0000-\\u0008\\u000a-\\u001f\\u007f-\\u009f]`,
  'g',
);
const NEEDS_CLEANING = new RegExp(`[${CONTROL_CHARACTERS}\\r]`);

/** What a terminal would show of one line: without colours, and of a progress bar the last state. */
export function cleanLine(line: string): string {
  if (!NEEDS_CLEANING.test(line)) return line;
  const plain = stripAnsi(line.replace(CONTROL_STRINGS, ''));
  return backspaced(lastState(plain)).replace(CONTROLS, '');
}

/** What stands after the last return to the beginning of the line, where anything does. */
function lastState(line: string): string {
  if (!line.includes('\r')) return line;
  const states = line.split('\r');
  return states.findLast((state) => state.trim() !== '') ?? '';
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
