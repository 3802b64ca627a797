/** Says whether a value has a shape. */
export type Check<T> = (value: unknown) => value is T;

type Checks = Record<string, Check<unknown>>;
type Checked<C> = { [K in keyof C]: C[K] extends Check<infer T> ? T : never };

export const isString: Check<string> = (value) => typeof value === 'string';
export const isBoolean: Check<boolean> = (value) => typeof value === 'boolean';
export const isTrue: Check<true> = (value): value is true => value === true;
export const isCount: Check<number> = (value): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
export const isAmount: Check<number> = (value): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;
export const isAnything: Check<unknown> = (_value): _value is unknown => true;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isOneOf<const T extends string>(values: readonly T[]): Check<T> {
  const known: ReadonlySet<unknown> = new Set(values);
  return (value): value is T => known.has(value);
}

export function isListOf<T>(check: Check<T>): Check<T[]> {
  return (value): value is T[] => Array.isArray(value) && value.every((item) => check(item));
}

/** An object with all of the first, and those of the second that it has at all. */
export function isShape<R extends Checks, O extends Checks = Record<never, never>>(
  required: R,
  optional?: O,
): Check<Checked<R> & Partial<Checked<O>>> {
  return (value): value is Checked<R> & Partial<Checked<O>> =>
    isObject(value) &&
    Object.entries(required).every(
      ([key, check]) => Object.hasOwn(value, key) && check(value[key]),
    ) &&
    Object.entries(optional ?? {}).every(
      ([key, check]) => !Object.hasOwn(value, key) || check(value[key]),
    );
}
