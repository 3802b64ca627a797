/**
 * Calls a function that takes a session first, as plain JavaScript may call it: without a session,
 * with something else, and with a promise of a session.
 *
 * @returns what it threw or rejected with, in that order
 */
export async function errorsWithoutSession(
  call: unknown,
  session: object,
  ...rest: readonly unknown[]
): Promise<unknown[]> {
  const loose: (...given: unknown[]) => unknown = Object(call);
  const errors: unknown[] = [];
  for (const given of [undefined, {}, Promise.resolve(session)]) {
    try {
      await loose(given, ...rest);
      errors.push(undefined);
    } catch (error) {
      errors.push(error);
    }
  }
  return errors;
}
