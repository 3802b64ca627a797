import { EthosError } from '@ethosagent/types';

const PREFIX = 'protections of ';

/** The id of the session that holds the ledger of something, by the name of what it belongs to. */
export function ledgerId(of: string): string {
  return PREFIX + of;
}

/** The id of the session that holds the protections of another session. */
export function sessionLedgerId(sessionId: string): string {
  return ledgerId(sessionPart(sessionId));
}

/**
 * The session that a ledger belongs to.
 *
 * @param id of a session of the store
 * @returns `undefined` if it is not a ledger, or the ledger of an owner
 */
export function sessionOfLedger(id: string): string | undefined {
  const [kind, encoded, ...more] = id.startsWith(PREFIX) ? id.slice(PREFIX.length).split(' ') : [];
  if (kind !== 'session' || encoded === undefined || more.length > 0) return undefined;
  try {
    const sessionId = decodeURIComponent(encoded);
    return sessionLedgerId(sessionId) === id ? sessionId : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The part of a ledger's id that names its session.
 *
 * @param sessionId of the session
 * @returns a text whose only space is the one after `session`
 * @throws `KEY_INVALID` for an id that is no text
 */
export function sessionPart(sessionId: string): string {
  if (typeof sessionId !== 'string') {
    throw new EthosError(
      'KEY_INVALID',
      `the id of a session must be a text, not ${typeof sessionId}`,
    );
  }
  return `session ${encodeURIComponent(sessionId.toWellFormed())}`;
}

/** The name of the ledger of untrusted files. */
export const FILES_PART = 'files';

/** Whether it is the ledger of untrusted files. */
export function isFilesLedger(sessionId: string): boolean {
  return sessionId === ledgerId(FILES_PART);
}

/**
 * Whether a session of the store is the ledger of another one.
 *
 * @param sessionId of the session
 */
export function isLedgerSession(sessionId: string): boolean {
  return sessionId.startsWith(PREFIX);
}

const TASKS_PREFIX = 'tasks of ';

/**
 * The id of the session that holds the background tasks of another session.
 *
 * @param sessionId of the session whose tasks they are
 * @returns an id, or the key for the key of that session
 */
export function taskJournalId(sessionId: string): string {
  return TASKS_PREFIX + sessionId;
}

/**
 * Whether a session of the store holds the background tasks of another one.
 *
 * @param sessionId of the session
 */
export function isTaskJournal(sessionId: string): boolean {
  return sessionId.startsWith(TASKS_PREFIX);
}
