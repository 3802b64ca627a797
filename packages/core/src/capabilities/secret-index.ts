/**
 * A ref, and every pattern that can cover it. A search looks at these few, and not at all patterns.
 *
 * @param ref a ref, or a pattern for those below a prefix
 */
export function refsAround(ref: string): string[] {
  const prefixes = [...ref.matchAll(/\//g)].map(({ index }) => `${ref.slice(0, index)}/*`);
  return [ref, ...prefixes];
}

/**
 * Sorts items by their ref.
 *
 * @param items the items
 * @param refOf gives the ref of an item
 * @returns gives the items that may cover a ref; the caller decides whether they do
 */
export function indexByRef<T>(
  items: Iterable<T>,
  refOf: (item: T) => string,
): (ref: string) => T[] {
  const byRef = new Map<string, T[]>();
  for (const item of items) {
    const ref = refOf(item);
    const known = byRef.get(ref);
    if (known === undefined) byRef.set(ref, [item]);
    else known.push(item);
  }
  return (ref) => [...new Set(refsAround(ref))].flatMap((each) => byRef.get(each) ?? []);
}
