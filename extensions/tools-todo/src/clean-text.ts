import { plainLines, withoutControls, withoutInvisible } from '@ethosagent/policy';

/** One line, without what can't be seen. */
export function cleanLine(text: string): string {
  return visible(text.replace(/\s/g, ' ')).replace(/ +/g, ' ').trim();
}

/** Lines, without what can't be seen and without white space at their ends. */
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
