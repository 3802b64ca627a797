/**
 * A ref, and every pattern that may cover it: what covers a ref is looked for among these, not among
 * all.
 *
 * @param ref a ref, or a pattern for those below a prefix
 */
export function refsAround(ref: string): string[] {
  const prefixes = [...ref.matchAll(/\//g)].map(({ index }) => `${ref.slice(0, index)}/*`);
  return [ref, ...prefixes];
}

/**
 * Things by a ref that each of them has.
 *
 * @param items the things
 * @param refOf the ref of one
 * @returns gives those that may cover a ref; whether they do is another question
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
