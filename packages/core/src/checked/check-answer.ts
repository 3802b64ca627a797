import { types } from 'node:util';
import { type Check, isAnything, isListOf, isString } from '@ethosagent/policy';
import { type ErrorCode, EthosError, errorCodeOf } from '@ethosagent/types';

/** A kind of backend, as its errors name it. */
export interface BackendKind {
  /** The code of failures that have no code. */
  readonly code: ErrorCode;
  readonly name: string;
}

/** A question to a backend. */
interface Question<T> {
  readonly kind: BackendKind;
  readonly method: string;
  readonly isAnswer: Check<T>;
}

/**
 * Asks a backend. An error without a code of this project is replaced by a plain error with a code,
 * since its text may hold a path or a value; the original stays in `cause`. An answer of a wrong
 * type is an error too: a tool would trust its type.
 */
export function answerOf<T>(
  { kind, method, isAnswer }: Question<T>,
  ask: () => unknown,
): Promise<T> {
  let asked: Promise<unknown>;
  try {
    asked = Promise.resolve(ask());
  } catch (error) {
    return Promise.reject(typedError(kind, method, error));
  }
  return asked.then(
    (answer) => {
      if (isAnswer(answer)) return answer;
      throw new EthosError(
        kind.code,
        `${kind.name} gave ${typeOf(answer)} as the answer of ${method}; ask the operator to fix it`,
      );
    },
    (error: unknown) => {
      throw typedError(kind, method, error);
    },
  );
}

/** As `answerOf`, for methods that return nothing: whatever comes back is dropped. */
export async function doneBy(kind: BackendKind, method: string, ask: () => unknown): Promise<void> {
  await answerOf({ kind, method, isAnswer: isAnything }, ask);
}

/** The error itself if it has a code, otherwise a plain error that replaces it. */
export function typedError(kind: BackendKind, method: string, error: unknown): unknown {
  if (errorCodeOf(error) !== undefined) return error;
  return new EthosError(
    kind.code,
    `${kind.name} failed in ${method}; try again, or ask the operator to look at it`,
    { cause: error },
  );
}

export const isTexts = isListOf(isString);

export function isTextOrNull(answer: unknown): answer is string | null {
  return answer === null || typeof answer === 'string';
}

export function isBytes(value: unknown): value is Uint8Array {
  // Also for arrays of another realm.
  return types.isUint8Array(value);
}

export function isBytesOrNull(answer: unknown): answer is Uint8Array | null {
  return answer === null || isBytes(answer);
}

export function isNumberOrNull(answer: unknown): answer is number | null {
  return answer === null || isNumber(answer);
}

export function isNumber(answer: unknown): answer is number {
  return typeof answer === 'number' && !Number.isNaN(answer);
}

/** Only checks that it is an object; the caller checks the types of its properties. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function typeOf(answer: unknown): string {
  if (answer === null || answer === undefined) return String(answer);
  return Array.isArray(answer) ? 'a list' : `a value of the type ${typeof answer}`;
}
