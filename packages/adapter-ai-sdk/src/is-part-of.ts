/**
 * Whether a JSON value contains nothing that another one lacks. The issued arguments of a call are
 * a part of those that will run, since a schema adds its defaults.
 */
export function isPartOf(part: unknown, whole: unknown): boolean {
  if (typeof part !== 'object' || part === null) return part === whole;
  if (typeof whole !== 'object' || whole === null) return false;
  if (Array.isArray(part) || Array.isArray(whole)) {
    return (
      Array.isArray(part) &&
      Array.isArray(whole) &&
      part.length === whole.length &&
      part.every((item, index) => isPartOf(item, whole[index]))
    );
  }
  const all = new Map(Object.entries(whole));
  return Object.entries(part).every(([key, item]) => all.has(key) && isPartOf(item, all.get(key)));
}
