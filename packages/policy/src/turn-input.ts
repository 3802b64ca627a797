import {
  EthosError,
  type NewSchedule,
  type NewTurn,
  type StoredTurn,
  type TurnRate,
} from '@ethosagent/types';
import { assertKvKey, DEFAULT_KV_LIMITS } from './kv-rules.js';
import { type OptionNames, type OptionValues, unknownOption, wrongOption } from './options.js';
import { isAttachmentInfo, isBoolean, isObject } from './shape.js';

const MAX_INPUT_CHARS = 10_000_000;
const MAX_MS = 1e13;
const MAX_PRIORITY = 1_000_000;
const MAX_RATE_KEY_BYTES = 1_000;
const MAX_AFTER = 1_000;

/** A store of turns keeps no bytes: another process could not read them. */
const isWithoutBytes = (each: unknown) =>
  isAttachmentInfo(each) && Object(each).bytes === undefined;

/** What a turn and a schedule have in common. */
const BOTH = {
  id: true,
  sessionId: true,
  prompt: true,
  attachments: true,
  untrusted: true,
  tenant: true,
  priority: true,
  rates: true,
  maxAttempts: true,
  backoffMs: true,
} as const;
const TURN: OptionNames<NewTurn> = { ...BOTH, delayMs: true, after: true };
const SCHEDULE: OptionNames<NewSchedule> = { ...BOTH, cron: true, timezone: true };

const VALUES: OptionValues<NewTurn> = {
  untrusted: [isBoolean, 'true or false'],
  attachments: [
    (value) => Array.isArray(value) && value.every(isWithoutBytes),
    'a list of what `put` of the attachment store returned, without their bytes',
  ],
};

/** A turn as stores keep it. */
export interface TurnRow {
  id: string;
  sessionId: string;
  tenant: string;
  /** Higher runs first; from -1,000,000 to 1,000,000. */
  priority: number;
  delayMs: number;
  /** How often the turn is tried in all. */
  maxAttempts: number;
  backoffMs: number;
  /** The fields that no SQL statement asks for, as JSON. */
  input: string;
  rates: readonly TurnRate[];
  after: readonly string[];
}

/**
 * A turn with its defaults. All stores ask this one function.
 *
 * @param turn as the caller gave it
 * @returns the row to store
 * @throws `VALUE_INVALID` for a field that is wrong
 * @throws `KEY_INVALID` for an id that is no key
 */
export function checkedTurn(turn: NewTurn): TurnRow {
  assertFields(turn, TURN);
  const { id, sessionId, tenant = '', priority = 0, delayMs = 0, rates = [], after = [] } = turn;
  const { maxAttempts = 5, backoffMs = 1_000 } = turn;
  const { prompt, untrusted = false, attachments = [] } = turn;
  if (typeof prompt !== 'string') throw invalid('prompt must be a text');
  const problem = wrongOption(turn, VALUES);
  if (problem !== undefined) throw invalid(problem);
  if (!Number.isInteger(priority) || Math.abs(priority) > MAX_PRIORITY) {
    throw invalid('priority must be a whole number of at most 1,000,000');
  }
  const input = JSON.stringify({ prompt: prompt.toWellFormed(), untrusted, attachments });
  if (input.length > MAX_INPUT_CHARS)
    throw invalid(
      `the prompt and its attachments have more than ${MAX_INPUT_CHARS} characters; give less`,
    );
  if (!Array.isArray(after) || after.length > MAX_AFTER || after.includes(id)) {
    throw invalid('after has at most 1,000 ids of other turns');
  }
  if (!Array.isArray(rates)) throw invalid('rates is a list of objects with key, max and perMs');
  for (const each of [id, sessionId, ...after]) assertTurnKey(each);
  if (tenant !== '') assertTurnKey(tenant);
  return {
    id,
    sessionId,
    tenant,
    priority,
    delayMs: wholeMs('delayMs', delayMs),
    maxAttempts: Math.max(1, wholeMs('maxAttempts', maxAttempts)),
    backoffMs: wholeMs('backoffMs', backoffMs),
    input,
    rates: checkedRates(rates),
    after: [...new Set(after)],
  };
}

/**
 * Checks a schedule, and writes it as JSON in which equal schedules are equal text.
 *
 * @param schedule as the caller gave it
 * @returns its id and the JSON
 * @throws `VALUE_INVALID` for a field that is wrong
 * @throws `KEY_INVALID` for an id that is no key
 */
export function checkedSchedule(schedule: NewSchedule): { id: string; json: string } {
  assertFields(schedule, SCHEDULE);
  const { id, cron, timezone, sessionId, ...turn } = schedule;
  const { tenant, priority, rates, maxAttempts, backoffMs, prompt, untrusted, attachments } = turn;
  checkedTurn({ ...turn, id, sessionId: sessionId === undefined ? id : sessionId });
  if (typeof cron !== 'string' || cron.length > 1_000)
    throw invalid('cron must be a text of at most 1,000 characters');
  // An empty one would mean the zone of the machine.
  if (timezone !== undefined && (typeof timezone !== 'string' || timezone === ''))
    throw invalid('timezone is a name, such as Europe/Vienna');
  const kept = { id, cron, timezone, sessionId, prompt: prompt.toWellFormed(), untrusted };
  const how = { attachments, tenant, priority, rates, maxAttempts, backoffMs };
  return { id, json: JSON.stringify({ ...kept, ...how }) };
}

/**
 * Reads what `input` of a row holds.
 *
 * @param input the column, as `checkedTurn` wrote it
 * @returns the fields of a stored turn
 */
export function turnInputOf(
  input: string,
): Pick<StoredTurn, 'prompt' | 'untrusted' | 'attachments'> {
  return JSON.parse(input);
}

/**
 * Checks an id of a turn or a session.
 *
 * @param id anything
 * @returns the id
 * @throws `KEY_INVALID` unless it is a well-formed string within the cap
 */
export function assertTurnKey(id: string): string {
  assertKvKey(id, DEFAULT_KV_LIMITS);
  return id;
}

/**
 * Checks a number of milliseconds out of the options of a caller.
 *
 * @param name of the option, for the message
 * @param value milliseconds
 * @returns the same number
 * @throws `VALUE_INVALID` for anything but a whole number from 0
 */
export function wholeMs(name: string, value: number): number {
  if (Number.isInteger(value) && value >= 0 && value <= MAX_MS) return value;
  throw invalid(`${name} must be a whole number from 0`);
}

/** A misspelt `untrusted`, `rates` or `after` would trust, limit nothing or not wait. */
function assertFields(given: object, names: object): void {
  if (!isObject(given)) throw invalid('give an object with sessionId and prompt');
  const problem = unknownOption(given, names);
  if (problem !== undefined) throw invalid(problem);
}

function checkedRates(rates: readonly TurnRate[]): TurnRate[] {
  return rates.map((rate) => {
    if (!isObject(rate)) throw invalid('rates are objects with key, max and perMs');
    const { key, max, perMs } = rate;
    const isLong = Buffer.byteLength(assertTurnKey(key)) > MAX_RATE_KEY_BYTES;
    // JSON values in a database can't hold a NUL.
    if (isLong || key.includes('\0')) {
      throw invalid(
        `the key of a rate must be a text of at most ${MAX_RATE_KEY_BYTES} bytes without NUL`,
      );
    }
    if (wholeMs('max', max) < 1 || wholeMs('perMs', perMs) < 1) {
      throw invalid('max and perMs of a rate are above zero');
    }
    return { key, max, perMs };
  });
}

function invalid(problem: string): EthosError {
  return new EthosError('VALUE_INVALID', `a turn: ${problem}`);
}
