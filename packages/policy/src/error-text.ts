/**
 * What a thrown value says, whatever it is. Never throws.
 *
 * @param thrown any value
 * @returns its message, or the value as a text; never empty
 */
export function errorText(thrown: unknown): string {
  try {
    if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) {
      const { message } = thrown;
      if (typeof message === 'string' && message !== '') return message;
    }
    if (thrown === undefined || thrown === null) return `the tool threw ${thrown}`;
    return String(thrown) || 'the tool threw an empty value';
  } catch {
    return 'the tool threw a value that can not be described';
  }
}
