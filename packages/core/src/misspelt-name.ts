import { nearestName } from '@ethosagent/policy';

/**
 * The first name in an object that is a slip away from a known name that is absent. For objects that
 * may have fields of their own: what the slip was meant for would have no effect.
 *
 * @param object with fields of any name
 * @param known the names that have a meaning
 * @returns the name as it was given, and the one that was meant
 */
export function misspeltName(
  object: object,
  known: readonly string[],
): { given: string; meant: string } | undefined {
  const unknown = Object.keys(object).filter((name) => !known.includes(name));
  if (unknown.length === 0) return undefined;
  const absent = known.filter((name) => Reflect.get(object, name) === undefined);
  for (const given of unknown) {
    const meant = nearestName(given, absent, 1);
    if (meant !== undefined) return { given, meant };
  }
  return undefined;
}
