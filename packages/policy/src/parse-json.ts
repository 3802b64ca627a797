/**
 * Parses a text that may be no JSON.
 *
 * @param text the text
 * @returns the value; `undefined` if it is no JSON
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
