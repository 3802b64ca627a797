import { plainLines, withoutControls, withoutInvisible } from '@ethosagent/policy';

/** Returns the text on one line, without invisible characters. */
export function cleanLine(text: string): string {
  return visible(text.replace(/\s/g, ' ')).replace(/ +/g, ' ').trim();
}

/** Returns the lines without invisible characters and without white space at their ends. */
export function cleanLines(text: string): string {
  return plainLines(text)
    .split('\n')
    .map((line) => visible(line.replaceAll('\t', '  ')).trimEnd())
    .join('\n')
    .trim();
}

function visible(line: string): string {
  return withoutInvisible(withoutControls(line));
}
