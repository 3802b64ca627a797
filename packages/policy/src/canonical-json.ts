/**
 * JSON in which equal data is equal text: without `undefined`, keys sorted.
 *
 * @param value anything that JSON can hold
 * @returns the text; `null` for what JSON can't hold
 */
export function canonicalJson(value: unknown): string {
  return (
    JSON.stringify(value, (_key, item: unknown) => {
      if (typeof item !== 'object' || item === null || Array.isArray(item)) return item;
      return Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)));
    }) ?? 'null'
  );
}
