import { EthosError } from '@ethosagent/types';

/** Caps of a key-value store, in bytes of UTF-8. */
export interface KvLimits {
  /** For keys, prefixes and scope ids. */
  maxKeyBytes: number;
  maxValueBytes: number;
}

/** 256 KiB a key, which holds any 60,000 characters; 10 MiB a value. */
export const DEFAULT_KV_LIMITS: Readonly<KvLimits> = {
  maxKeyBytes: 262_144,
  maxValueBytes: 10_485_760,
};

/**
 * Checks a key, a prefix or a scope id.
 *
 * @param key anything
 * @param limits `maxKeyBytes`, in bytes of UTF-8
 * @throws `KEY_INVALID` unless it is a well-formed string of at most `maxKeyBytes`
 */
export function assertKvKey(key: unknown, limits: KvLimits): asserts key is string {
  const problem = textProblem(key, limits.maxKeyBytes);
  if (problem) throw new EthosError('KEY_INVALID', `a key, prefix or scope id ${problem}`);
}

/**
 * Checks a value.
 *
 * @param value anything
 * @param limits `maxValueBytes`, in bytes of UTF-8
 * @throws `VALUE_INVALID` unless it is a well-formed string of at most `maxValueBytes`
 */
export function assertKvValue(value: unknown, limits: KvLimits): asserts value is string {
  const problem = textProblem(value, limits.maxValueBytes);
  if (problem) throw new EthosError('VALUE_INVALID', `a value ${problem}`);
}

/**
 * When an entry expires: it is live before that moment, and gone from it on.
 *
 * @param ttlSeconds seconds above zero, rounded to milliseconds, one at least; `undefined` for ever
 * @param now milliseconds since the epoch
 * @returns milliseconds since the epoch, or `null` for an entry that stays
 * @throws `TTL_INVALID`
 */
export function kvExpiresAt(ttlSeconds: unknown, now: number): number | null {
  if (ttlSeconds === undefined) return null;
  if (typeof ttlSeconds === 'number' && ttlSeconds > 0) {
    const expiresAt = Math.floor(now) + Math.max(1, Math.round(ttlSeconds * 1000));
    if (Number.isSafeInteger(expiresAt)) return expiresAt;
  }
  throw new EthosError(
    'TTL_INVALID',
    'ttlSeconds must be a finite number above zero; leave it out for an entry that stays',
  );
}

/**
 * What `increment` writes: the current value, a decimal integer or absent (0), plus `by`.
 *
 * @param current the stored value; `null` where there is none
 * @param by a safe integer
 * @returns the sum
 * @throws `VALUE_INVALID` when an operand or the sum is not a safe integer
 */
export function incrementKvValue(current: string | null, by: unknown): number {
  if (typeof by !== 'number' || !Number.isSafeInteger(by)) {
    throw new EthosError('VALUE_INVALID', 'increment needs a step that is a safe integer');
  }
  const start = current === null ? 0 : parseInteger(current);
  if (start === undefined) {
    throw new EthosError('VALUE_INVALID', 'the current value is not a decimal safe integer');
  }
  const sum = start + by;
  if (!Number.isSafeInteger(sum)) {
    throw new EthosError('VALUE_INVALID', 'the sum leaves the range of safe integers');
  }
  return sum;
}

/**
 * Orders well-formed strings by code point, which is the order of their UTF-8 bytes.
 *
 * @param a a well-formed string
 * @param b a well-formed string
 * @returns below 0, 0 or above 0, as a comparer of `sort` does
 */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left !== right) return codePointRank(left) - codePointRank(right);
  }
  return a.length - b.length;
}

// Orders strings by code points. A surrogate is part of a code point above U+FFFF, so it ranks
// above U+E000 to U+FFFF.
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

function textProblem(text: unknown, maxBytes: number): string | undefined {
  if (typeof text !== 'string')
    return `must be a string, not ${text === null ? 'null' : typeof text}`;
  // A UTF-16 unit takes one to three bytes of UTF-8, so most strings need not be measured.
  const tooLong =
    text.length > maxBytes || (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes);
  if (tooLong) return `must be at most ${maxBytes} bytes of UTF-8`;
  if (!text.isWellFormed()) return 'must not hold a lone surrogate';
  return undefined;
}

function parseInteger(value: string): number | undefined {
  if (!/^(?:0|-?[1-9]\d{0,15})$/.test(value)) return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : undefined;
}
