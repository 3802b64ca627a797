import { plainLines, showControls, showInvisible } from '@ethosagent/policy/text';

/**
 * A text from outside in safe form: no character is invisible, and none changes how the text around
 * it is displayed.
 */
export function visible(text: string): string {
  return showInvisible(showControls(plainLines(text.toWellFormed())));
}

/** As `visible`, shortened to one line. */
export function visibleLine(text: string, maxChars = 300): string {
  const line = visible(text).replace(/\s+/g, ' ');
  return line.length > maxChars ? `${line.slice(0, maxChars - 1).toWellFormed()}…` : line;
}

/** A value as JSON that can be parsed again. Every invisible character is written as its number. */
export function exactJson(value: unknown): string {
  const json = JSON.stringify(value, null, 2) ?? 'null';
  return json.replace(/[^\P{C}\n]|[\p{Zl}\p{Zp}]|\p{DI}/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}
