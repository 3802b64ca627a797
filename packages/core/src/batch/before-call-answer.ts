import { type CallNarrowing, readNarrowing } from '../call-narrowing.js';
import { copyPlain } from '../plain.js';
import { NOT_RUN, shownReason } from './approval-reason.js';

/** The answer of a `beforeCall`. The hook's object is read once. */
export type HostAnswer = { refuse: string } | { ask?: string; narrow?: CallNarrowing };

const KEYS: ReadonlySet<string> = new Set(['refuse', 'ask', 'narrow']);
const UNREADABLE = 'the host could not decide whether the call may run';

function unreadable(detail?: string): HostAnswer {
  const why = detail === undefined ? UNREADABLE : `${UNREADABLE} (${detail})`;
  return { refuse: `${why}, ${NOT_RUN}` };
}

/**
 * Reads the answer of a hook. An answer that can't be read refuses the call, since the hook may
 * have meant to restrict it.
 */
export function readHostAnswer(said: unknown): HostAnswer {
  if (said === undefined || said === null) return {};
  const copy = copyPlain(said);
  if (!copy.ok) return unreadable(`the answer of beforeCall${copy.problem}`);
  const answer: Record<string, unknown> = Object(copy.value);
  const unknown = Object.keys(answer).find((key) => !KEYS.has(key));
  const { refuse, ask, narrow } = answer;
  if (typeof refuse === 'string') return { refuse };
  if (unknown !== undefined || refuse !== undefined) return unreadable();
  if (ask === undefined && narrow === undefined) return unreadable();
  if (ask !== undefined && typeof ask !== 'string') return unreadable();
  const narrowing = narrow === undefined ? undefined : readNarrowing(narrow);
  if (narrow !== undefined && narrowing === undefined) {
    return unreadable('narrow of beforeCall may only have lists of hosts, folders, refs and names');
  }
  return {
    ...(ask !== undefined && { ask: shownReason(ask) }),
    ...(narrowing !== undefined && { narrow: narrowing }),
  };
}
