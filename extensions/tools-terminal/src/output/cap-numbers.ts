/** What may stand between the characters that begin a control sequence: the terminal runs it, and reads on. */
const ENTRY = '\\x00-\\x17\\x19\\x1c-\\x1f\\x7f';

const SEQUENCE = new RegExp(
  `(?:\\x1b[${ENTRY}]*\\[|\\x9b)([${ENTRY}\\x20-\\x3f]*)([\\x40-\\x7e]?)`,
  'g',
);
const NUMBER = new RegExp(`[0-9][${ENTRY}0-9]*`, 'g');

/**
 * Limits each number in the control sequences of a terminal. The emulator repeats what a sequence
 * asks for as often as its number says, which could take for ever.
 *
 * @param text the output of a program
 * @param most the largest number that remains. Numbers of `h` and `l` remain too: they name modes.
 */
export function capNumbers(text: string, most: number): string {
  // The emulator ignores this character, also inside a number.
  return text.replaceAll('\ufeff', '').replace(SEQUENCE, (sequence, _numbers, final) => {
    if (final === 'h' || final === 'l') return sequence;
    return sequence.replace(NUMBER, (run) => {
      const value = Number(run.replace(/\D/g, ''));
      return value <= most ? run : `${most}${run.replace(/\d/g, '')}`;
    });
  });
}
