import type { AttachmentInfo } from '@ethosagent/types';

/** Says whether a value has a shape. */
export type Check<T> = (value: unknown) => value is T;

type Checks = Record<string, Check<unknown>>;
type Checked<C> = { [K in keyof C]: C[K] extends Check<infer T> ? T : never };

/**
 * Whether a value is a string.
 *
 * @param value anything
 */
export const isString: Check<string> = (value) => typeof value === 'string';
/**
 * Whether a value is a boolean.
 *
 * @param value anything
 */
export const isBoolean: Check<boolean> = (value) => typeof value === 'boolean';
/**
 * Whether a value is `true`.
 *
 * @param value anything
 */
export const isTrue: Check<true> = (value): value is true => value === true;
/**
 * Whether a value is a safe integer from 0.
 *
 * @param value anything
 */
export const isCount: Check<number> = (value): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
/**
 * Whether a value is a finite number from 0.
 *
 * @param value anything
 */
export const isAmount: Check<number> = (value): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;
/**
 * Whether a value is anything: always true. For a field that is checked elsewhere.
 *
 * @param _value anything
 */
export const isAnything: Check<unknown> = (_value): _value is unknown => true;

/**
 * Whether a value is an object, and neither `null` nor an array.
 *
 * @param value anything
 */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A check for one of a few values.
 *
 * @param values the allowed ones
 * @returns the check
 */
export function isOneOf<const T extends string>(values: readonly T[]): Check<T> {
  const known: ReadonlySet<unknown> = new Set(values);
  return (value): value is T => known.has(value);
}

/**
 * A check for an array whose items all pass another check.
 *
 * @param check of one item
 * @returns the check
 */
export function isListOf<T>(check: Check<T>): Check<T[]> {
  return (value): value is T[] => Array.isArray(value) && value.every((item) => check(item));
}

/**
 * A check for an object by its fields. Fields that neither list names are allowed.
 *
 * @param required checks of the fields that the object must have
 * @param optional checks of the fields that it may have
 * @returns the check
 */
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

/**
 * Whether a value is the `AttachmentInfo` of a file.
 *
 * @param value anything
 */
export const isAttachmentInfo: Check<AttachmentInfo> = isShape({
  id: isString,
  name: isString,
  mediaType: isString,
  sizeBytes: isAmount,
});

/**
 * Whether a value is an `AbortSignal`, of any realm.
 *
 * @param value anything
 */
export function isAbortSignal(value: unknown): value is AbortSignal {
  const { aborted, addEventListener }: Partial<AbortSignal> = Object(value);
  return typeof aborted === 'boolean' && typeof addEventListener === 'function';
}

/**
 * Whether a value is a function.
 *
 * @param value anything
 */
export function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}
