import {
  EthosError,
  type MessageRole,
  type NewSessionMessage,
  type SessionOwner,
  type SessionRef,
} from '@ethosagent/types';
import { truncationMarker } from './budget.js';
import { assertKvKey, DEFAULT_KV_LIMITS } from './kv-rules.js';
import { takeStart } from './text/cut-text.js';
import { indexedWords } from './word-stems.js';

const ROLES: ReadonlySet<string> = new Set<MessageRole>(['system', 'user', 'assistant', 'tool']);

/** A message as it is written. */
export interface MessageRow {
  role: MessageRole;
  text: string;
  /** For an index: the words of the text, and their other forms. */
  words: string;
  stems: string;
  toolName: string | null;
  data: string | null;
  /** Milliseconds since the epoch. */
  createdAt: number;
}

/** Caps of a message, in characters. */
export interface MessageLimits {
  maxTextChars: number;
  maxDataChars: number;
}

/**
 * A message as it is written, checked and cut.
 *
 * @param message as the caller gave it
 * @param now milliseconds since the epoch, for a message without a time
 * @param limits in characters
 * @returns the row
 * @throws `VALUE_INVALID` for an unknown role, a text that is no string, or a time that is no whole
 * number
 */
export function messageRow(
  message: NewSessionMessage,
  now: number,
  limits: MessageLimits,
): MessageRow {
  const { role, text, toolName, createdAt = Math.floor(now) } = message;
  if (!ROLES.has(role)) throw noRole();
  if (typeof text !== 'string') throw invalid('the text of a message is a string');
  if (!Number.isSafeInteger(createdAt)) throw invalid('createdAt is a whole number of ms');
  const kept = cutText(text, limits.maxTextChars);
  return {
    role,
    text: kept,
    ...indexedWords(kept),
    toolName: toolName === undefined ? null : checkedText('toolName', toolName),
    data: dataOf(message.data, limits.maxDataChars),
    createdAt,
  };
}

/**
 * An owner as one text: the same text for the same owner, and another one for every other owner.
 *
 * @param owner of a session
 * @returns a text to store and compare
 * @throws `KEY_INVALID` for an id that is not a well-formed string within the cap
 */
export function ownerIdentity({ scopeId, userScopeId, teamId }: SessionOwner): string {
  for (const id of [scopeId, userScopeId ?? '', teamId ?? '']) assertKvKey(id, DEFAULT_KV_LIMITS);
  return JSON.stringify([scopeId, userScopeId ?? null, teamId ?? null]);
}

/**
 * The owner that an identity names.
 *
 * @param identity as `ownerIdentity` gave it
 * @returns the owner
 */
export function ownerOf(identity: string): SessionOwner {
  const [scopeId, userScopeId, teamId]: [string, string | null, string | null] =
    JSON.parse(identity);
  return {
    scopeId,
    ...(userScopeId !== null && { userScopeId }),
    ...(teamId !== null && { teamId }),
  };
}

/**
 * The columns that are stored of a session.
 *
 * @param ref of the session
 * @returns its columns, with `null` for absent values
 * @throws `KEY_INVALID` for an id, key or personality id that is not a well-formed string within
 * the cap
 */
export function checkedRef({ id, key, personalityId }: SessionRef): {
  id: string;
  key: string | null;
  personalityId: string | null;
} {
  for (const each of [id, key ?? '', personalityId ?? '']) assertKvKey(each, DEFAULT_KV_LIMITS);
  return { id, key: key ?? null, personalityId: personalityId ?? null };
}

/**
 * Cuts a text, never inside a surrogate pair, and says so. Lone surrogates become U+FFFD: UTF-8,
 * which the database holds, has none.
 *
 * @param text of any length
 * @param maxChars UTF-16 code units that are kept, without the marker
 * @returns the text, or its beginning and the marker
 */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text.toWellFormed();
  const start = takeStart(text, maxChars);
  // A copy by way of bytes: a slice would keep the whole text in memory.
  return Buffer.from(start).toString() + truncationMarker(text.length);
}

function dataOf(data: unknown, maxChars: number): string | null {
  if (data === undefined) return null;
  let json: string | undefined;
  try {
    json = JSON.stringify(data);
  } catch (error) {
    throw new EthosError('VALUE_INVALID', 'the data of a message is not JSON', { cause: error });
  }
  if (json === undefined) throw invalid('the data of a message is not JSON');
  if (json.length > maxChars) {
    throw invalid(`the data of a message has ${json.length} characters, the cap is ${maxChars}`);
  }
  return json;
}

function checkedText(name: string, text: unknown): string {
  if (typeof text === 'string' && text.length <= 1_000) return text.toWellFormed();
  throw invalid(`${name} is a text of at most 1,000 characters`);
}

/**
 * Checks the roles of a search.
 *
 * @param roles of the search
 * @throws `VALUE_INVALID` for an unknown role
 */
export function assertRoles(roles: readonly MessageRole[]): void {
  if (!roles.every((role) => ROLES.has(role))) throw noRole();
}

function noRole(): EthosError {
  return invalid(`a role is one of ${[...ROLES].join(', ')}`);
}

function invalid(detail: string): EthosError {
  return new EthosError('VALUE_INVALID', detail);
}
