import { cleanText, shorten } from '@ethosagent/policy';
import { errorCodeOf } from '@ethosagent/types';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { ConnectFailure } from './server-session.js';

export const UNAUTHORIZED = 'it waits until the user has authorized it';

/** The text between the reason why a server ended and its last words. */
export const LAST_WORDS = '; its last words: ';
/** The text between the reason why a server failed and the refusals of its sandbox. */
const OF_SANDBOX = '; of its sandbox: ';

/**
 * Joins the reason why a server failed and the refusals of its sandbox. The words of the server
 * come last.
 */
export function withRefusals(reason: string, refused: string): string {
  if (refused === '') return reason;
  const at = reason.indexOf(LAST_WORDS);
  const end = at < 0 ? reason.length : at;
  return `${reason.slice(0, end)}${OF_SANDBOX}${refused}${reason.slice(end)}`;
}

/**
 * Returns the part of a reason for the model: without the last words of the server and hints for
 * operators.
 */
export function brief(reason: string): string {
  const [short = ''] = reason.split(LAST_WORDS)[0]?.split(OF_SANDBOX) ?? [];
  return short;
}

/** Codes of failures that a retry does not solve. */
const LASTING: readonly unknown[] = [
  'HOST_NOT_ALLOWED',
  'BINARY_NOT_ALLOWED',
  'PATH_NOT_REACHABLE',
  'SANDBOX_UNAVAILABLE',
  'SECRET_NOT_DECLARED',
  'SECRET_NOT_BOUND',
  'SECRET_NOT_FOUND',
  'TOOL_INVALID',
  'CONFIG_INVALID',
  'SPAWN_FAILED',
];

/** Whether a retry does not solve an error. */
export function isLasting(error: unknown): boolean {
  return LASTING.includes(errorCodeOf(error));
}

/**
 * Finds out why a connection failed, and whether a later start may work.
 *
 * @param denied the refusal of a request, when a library replaced it by an error of its own
 */
export function reasonOf(
  error: unknown,
  redact: (text: string) => string,
  denied?: unknown,
): ConnectFailure {
  if (error instanceof UnauthorizedError) {
    return {
      reason: UNAUTHORIZED,
      again: false,
      authorize: true,
      error,
    };
  }
  if (error instanceof StreamableHTTPError && denied === undefined) {
    if (error.code === 401) {
      return {
        reason: 'it wants an authorization (HTTP 401), and this host has none for it',
        again: false,
        error,
      };
    }
    return { reason: messageOf(error, redact), again: (error.code ?? 0) >= 500, error };
  }
  const found = causeWithCode(error);
  const cause = errorCodeOf(found) === undefined ? (denied ?? found) : found;
  return { reason: messageOf(cause, redact), again: !isLasting(cause), error: cause };
}

/** Finds the error with a code of this project that caused an error of a library. */
function causeWithCode(error: unknown): unknown {
  for (
    let at: unknown = error, steps = 0;
    at instanceof Error && steps < 5;
    at = at.cause, steps++
  ) {
    if (errorCodeOf(at) !== undefined) return at;
  }
  return error;
}

/** Returns the message of an error, without secrets. Parts of it may be from the server. */
export function messageOf(error: unknown, redact: (text: string) => string): string {
  if (!(error instanceof Error)) return 'it failed';
  // The order matters: hidden characters are removed first, then secrets, and then the text is cut.
  return shorten(redact(cleanText(redact(error.message), 8_000)), 499);
}
