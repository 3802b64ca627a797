/**
 * How many levels of objects and lists arguments and structured results may have. Real ones have far
 * fewer, and deeper ones could overflow the stack.
 */
export const MAX_PLAIN_DEPTH = 500;

/**
 * How many levels of objects and lists a value has.
 *
 * @param value plain data without cycles
 * @param limit where the count stops: for a value that nests deeper, the result is one more
 * @returns 0 for a value that is neither an object nor a list
 */
export function depthOf(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (limit <= 0) return 1;
  let deepest = 0;
  for (const child of Object.values(value)) deepest = Math.max(deepest, depthOf(child, limit - 1));
  return deepest + 1;
}
