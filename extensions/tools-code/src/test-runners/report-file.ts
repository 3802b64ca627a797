import { LineReader } from '../output/line-reader.js';
import type { OutputParser } from '../output/output-parser.js';
import { WholeText } from '../output/whole-text.js';

/**
 * Returns a way to run a command that writes its report to a file. The file is a temporary one
 * outside the project. When the command has ended, the file is printed between two marked lines,
 * and removed.
 *
 * @param option the option of the command that names the file, with `$f` for the file
 */
export function intoFile(option: string, mark: string): (command: string) => string {
  const line = (what: string) => `printf '\\n\\001%s ${what}\\n' ${mark}`;
  return (command) =>
    [
      `{ f="$(mktemp)" && trap 'rm -f "$f"' EXIT && trap 'exit 143' HUP INT TERM`,
      `${command} ${option}`,
      `code=$?; ${line('report')}; cat "$f"; ${line('end')}; exit $code; }`,
    ].join('\n');
}

/**
 * Reads the report that a command wrote to its file. Lines that the command printed go to `onLine`.
 */
export function fileParser<R>(
  mark: string,
  report: (text: string, exitCode: number) => R | undefined,
  onLine: (line: string) => void = () => {},
): OutputParser<R> {
  const [begin, end] = ['report', 'end'].map((what) => `\u0001${mark} ${what}`);
  let file: WholeText | undefined;
  let isWhole = false;
  const reader = new LineReader((line) => {
    if (isWhole) return;
    if (line === end && file !== undefined) isWhole = true;
    else if (line === begin) file = new WholeText();
    else if (file !== undefined) file.add(`${line}\n`);
    else onLine(line);
  });
  const errors = new LineReader(onLine);
  return {
    add: (part, stream) => (stream === 'stdout' ? reader : errors).add(part),
    end(exitCode) {
      reader.end();
      errors.end();
      const text = isWhole ? file?.text() : undefined;
      return text === undefined ? undefined : report(text, exitCode);
    },
  };
}
