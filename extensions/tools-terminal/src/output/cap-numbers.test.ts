import { tries } from '@ethosagent/test-support';
import xterm from '@xterm/headless';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { capNumbers } from './cap-numbers.js';

const MOST = 100;
const FINALS = Array.from({ length: 0x7e - 0x40 + 1 }, (_none, at) =>
  String.fromCharCode(0x40 + at),
).filter((final) => final !== 'h' && final !== 'l');
const PREFIXES = [undefined, '?', '>', '=', '<'];
const INTERMEDIATES = [undefined, ' ', '!', '$', "'", '"', '*'];

/** Returns the numbers that the emulator reads from a text, without running what they ask for. */
async function numbersIn(text: string): Promise<number[]> {
  const terminal = new xterm.Terminal({ allowProposedApi: true });
  const seen: number[] = [];
  for (const final of FINALS) {
    for (const prefix of PREFIXES) {
      for (const intermediates of INTERMEDIATES) {
        const id = { final, ...(prefix && { prefix }), ...(intermediates && { intermediates }) };
        terminal.parser.registerCsiHandler(id, (params) => {
          seen.push(...params.flat());
          return true;
        });
      }
    }
  }
  await new Promise<void>((resolve) => terminal.write(text, resolve));
  terminal.dispose();
  return seen;
}

describe('capNumbers', () => {
  it.each([
    ['a number', '\u001b[2147483647L'],
    ['C0 controls in a sequence', '\u001b\n[21\n474\r83647\u0007L'],
    ['DEL in a number', '\u001b[99\u007f9999L'],
    ['an ignored character in a number', '\u001b[99\ufeff9999L'],
    ['C1', '\u009b99999999S'],
    ['the second number', '\u001b[1;99999999S'],
    ['a part of a number', '\u001b[1:99999999m'],
    ['a prefix', '\u001b[?99999999J'],
    ['an intermediate', "\u001b[99999999'}"],
    ['a sequence in a title', '\u001b]0;a\u009b99999999L'],
    ['a sequence after one that was cut', '\u001b[99999999\u001b[99999999L'],
  ])('limits %s', async (_name, text) => {
    const numbers = await numbersIn(capNumbers(text, MOST));
    expect(numbers.length).toBeGreaterThan(0);
    expect(Math.max(...numbers)).toBeLessThanOrEqual(MOST);
  });

  it('leaves no large number, whatever is written', async () => {
    const piece = fc.oneof(
      fc.constantFrom('\u001b', '[', '\u009b', '99', '9', '0', ';', ':', 'L', '?', ' ', '\ufeff'),
      fc.constantFrom(
        '\n',
        '\u0018',
        '\u001a',
        '\u007f',
        '\u0085',
        '\u0090',
        '\u009c',
        ']',
        'P',
        'é',
      ),
      fc.constantFrom('\u001b[', '999999', 'h'),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
        const numbers = await numbersIn(capNumbers(pieces.join(''), MOST));
        expect(Math.max(0, ...numbers)).toBeLessThanOrEqual(MOST);
      }),
      { numRuns: tries({ check: 200, nightly: 1_000, long: 5_000 }) },
    );
  });

  it.each([
    ['text', 'a 999999 [999999L'],
    ['small numbers', '\u001b[12;40H\u001b[0m'],
    ['the names of modes', '\u001b[?1049h\u001b[?2004l'],
  ])('leaves %s as it is', (_name, text) => {
    expect(capNumbers(text, MOST)).toBe(text);
  });
});
