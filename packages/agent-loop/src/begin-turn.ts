import {
  isAbortSignal,
  isAttachmentInfo,
  isBoolean,
  isFunction,
  isListOf,
  isObject,
  isString,
  type OptionNames,
  type OptionValues,
  unknownOption,
  wrongOption,
} from '@ethosagent/policy';
import { EthosError, type SessionRef } from '@ethosagent/types';
import type { AgentEvent, TurnEnd, TurnInput } from './api.js';
import type { AgentRecord } from './journal/records.js';
import type { LoggedTurn, SessionLog } from './journal/session-log.js';
import { NO_USAGE } from './usage.js';

/**
 * The first record of a turn or of its resumption, or the end of a turn that has ended. @throws
 * `TURN_INVALID`
 */
export type Begin = (log: SessionLog, ref: SessionRef) => AgentRecord | DoneEvent;

type DoneEvent = Extract<AgentEvent, { type: 'done' }>;

const INPUT: OptionNames<TurnInput> = {
  sessionId: true,
  prompt: true,
  attachments: true,
  untrusted: true,
  abortSignal: true,
  claim: true,
  key: true,
};

/** What a caller claims a session with. */
export const CLAIM = [
  (claim: unknown) => isFunction(Object(claim).assertHeld),
  'what `hold` returned',
] as const;

const VALUES: OptionValues<TurnInput> = {
  attachments: [
    isListOf(isAttachmentInfo),
    'a list of attachments, each with id, name, mediaType and sizeBytes in bytes',
  ],
  untrusted: [isBoolean, 'true or false'],
  abortSignal: [isAbortSignal, 'an AbortSignal, as `signal` of an AbortController'],
  claim: CLAIM,
  key: [isString, 'a text'],
};

/**
 * Plain JavaScript may pass anything: a misspelt `untrusted`, or `'true'`, would run calls unasked.
 * @throws `TURN_INVALID`
 */
export function assertInput(input: unknown): void {
  const problem = isObject(input)
    ? (unknownOption(input, INPUT) ?? wrongOption<TurnInput>(Object(input), VALUES))
    : 'give an object with the sessionId, and with the prompt of a new turn';
  if (problem !== undefined) throw new EthosError('TURN_INVALID', problem);
}

/** Begins a turn, or goes on with the one that has the same key. */
export function beginTurn(input: TurnInput): Begin {
  return (log, ref) => {
    const known = input.key === undefined ? undefined : log.keys.get(input.key);
    if (known === undefined) return userRecord(input, log, ref.personalityId);
    return known.end === undefined ? resumeTurn(log, ref) : doneOf(log, known);
  };
}

/** Goes on with the last turn. @throws `TURN_INVALID`, also for a turn that another personality began */
export function resumeTurn(log: SessionLog, { personalityId }: SessionRef): AgentRecord {
  const { turn, personality } = unfinished(log);
  if (personality !== undefined && personality !== personalityId) {
    throw new EthosError(
      'TURN_INVALID',
      `the turn runs under ${JSON.stringify(personality)}: resume it under that, or \`abandon\` it`,
    );
  }
  return { kind: 'resumed', turn };
}

/**
 * Returns the last turn, for resuming it.
 *
 * @throws `TURN_INVALID` if that turn has ended, or no turn has begun
 */
export function unfinished({ turn }: SessionLog): LoggedTurn {
  if (turn !== undefined && turn.end === undefined) return turn;
  throw new EthosError(
    'TURN_INVALID',
    'the session has no turn to go on with; start one with `run`',
  );
}

function userRecord(
  { prompt, attachments = [], untrusted, key }: TurnInput,
  { turn }: SessionLog,
  personality: string | undefined,
): AgentRecord {
  if (typeof prompt !== 'string' || (prompt.trim() === '' && attachments.length === 0)) {
    throw new EthosError('TURN_INVALID', 'the prompt is blank; say what is to be done');
  }
  if (turn !== undefined && turn.end === undefined) {
    throw new EthosError(
      'TURN_INVALID',
      'the last turn of the session is not finished: `resume` goes on with it, `abandon` ends it',
    );
  }
  const files = attachments.map(({ id, name, mediaType, sizeBytes }) => ({
    id,
    name,
    mediaType,
    sizeBytes,
  }));
  return {
    kind: 'user',
    turn: (turn?.turn ?? 0) + 1,
    prompt: prompt.toWellFormed(),
    ...(files.length > 0 && { attachments: files }),
    ...(personality !== undefined && { personality }),
    ...(key !== undefined && { key }),
    ...(untrusted === true && { untrusted: true }),
  };
}

/** How a turn ended. Of turns before the last one, only the end is known. */
function doneOf(
  log: SessionLog,
  { turn, end = 'answered' }: { turn: number; end?: TurnEnd },
): DoneEvent {
  const last = log.turn?.turn === turn ? log.turn : undefined;
  const { text = '', steps = 0, calls = 0, usage = NO_USAGE } = last ?? {};
  return { type: 'done', end, text, turn, steps, calls, usage, approvals: [] };
}
