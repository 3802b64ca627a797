/**
 * Makes a value at its first use, and keeps it. For what takes too long to make at every import.
 *
 * @param make is called once; after a throw, the next use calls it again
 * @returns the value
 */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
