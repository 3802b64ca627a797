import { type CallNarrowing, readNarrowing } from '../call-narrowing.js';
import { copyPlain } from '../plain.js';
import { shownReason } from './approval-reason.js';

/** The answer of a `beforeCall`. The hook's object is read once. */
export type HostAnswer = { refuse: string } | { ask?: string; narrow?: CallNarrowing };

const KEYS: ReadonlySet<string> = new Set(['refuse', 'ask', 'narrow']);
const UNREADABLE = 'the host could not decide whether the call may run';

/**
 * Reads the answer of a hook. An answer that can't be read refuses the call, since the hook may
 * have meant to restrict it.
 */
export function readHostAnswer(said: unknown): HostAnswer {
  if (said === undefined || said === null) return {};
  const copy = copyPlain(said);
  if (!copy.ok) return { refuse: `${UNREADABLE}: its answer${copy.problem}` };
  const answer: Record<string, unknown> = Object(copy.value);
  const unknown = Object.keys(answer).find((key) => !KEYS.has(key));
  const { refuse, ask, narrow } = answer;
  if (typeof refuse === 'string') return { refuse };
  if (unknown !== undefined || refuse !== undefined) return { refuse: UNREADABLE };
  if (ask === undefined && narrow === undefined) return { refuse: UNREADABLE };
  if (ask !== undefined && typeof ask !== 'string') return { refuse: UNREADABLE };
  const narrowing = narrow === undefined ? undefined : readNarrowing(narrow);
  if (narrow !== undefined && narrowing === undefined) {
    return { refuse: `${UNREADABLE}: narrow has lists of hosts, folders, refs and names alone` };
  }
  return {
    ...(ask !== undefined && { ask: shownReason(ask) }),
    ...(narrowing !== undefined && { narrow: narrowing }),
  };
}
