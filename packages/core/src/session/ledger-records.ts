import {
  type Check,
  isAmount,
  isAnything,
  isBoolean,
  isCount,
  isListOf,
  isObject,
  isOneOf,
  isShape,
  isString,
} from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import type { ResolvedGrant } from '../capabilities/resolved-grant.js';

/** The version of what `data` of a message holds. */
const VERSION = 1;

const isGrantOfCall: Check<ResolvedGrant> = (value): value is ResolvedGrant => isObject(value);
const isSource = isShape({ source: isString, tool: isString });
const isApproval = isShape(
  {
    toolCallId: isString,
    question: isString,
    toolName: isString,
    args: isAnything,
    capabilities: isGrantOfCall,
    reason: isString,
    askedAt: isAmount,
  },
  { settings: isAnything, tool: isString, personalityId: isString, turn: isCount },
);
const isScope = isOneOf(['session', 'arguments', 'tool']);
const isGrant = isShape(
  {
    id: isString,
    scope: isScope,
    toolName: isString,
    tool: isString,
    capabilities: isGrantOfCall,
    sources: isListOf(isSource),
    personalityId: isString,
    grantedAt: isAmount,
  },
  { args: isAnything, settings: isAnything, by: isString, userScopeId: isString, teamId: isString },
);

type Checked<C> = C extends Check<infer T> ? T : never;

const CHECKS = {
  untrusted: isShape({ from: isSource }),
  asked: isShape(
    { approval: isApproval, input: isAnything },
    // The untrusted content that the person who was asked knew about.
    { sources: isListOf(isSource) },
  ),
  decided: isShape(
    { call: isString, question: isString, approved: isBoolean },
    {
      reason: isString,
      args: isAnything,
      runs: isString,
      by: isString,
      always: isScope,
    },
  ),
  /**
   * The decision on a call was used: the call runs now, or the model was told that it is refused.
   * `begunAt` is there for a call of the session that runs now. Its end is recorded too; an agent's
   * turn has records of its own.
   */
  taken: isShape({ call: isString, question: isString }, { begunAt: isAmount }),
  /** A call whose `taken` has `begunAt` has its result. */
  ended: isShape({ call: isString, question: isString }),
  /** A question that needs no answer any more: its call does not run. */
  withdrawn: isShape({ call: isString, question: isString }),
  granted: isShape({ grant: isGrant }),
  revoked: isShape({ grant: isString }),
  /** How much of the limits of the session was used up. */
  used: isShape({ calls: isAmount, costUsd: isAmount }),
  /** Files and folders that were changed by calls that could use untrusted content. */
  written: isShape({ paths: isListOf(isString) }),
  /** Files and folders that an operator has checked. */
  cleared: isShape({ paths: isListOf(isString) }),
};

export type RecordOf<K extends keyof typeof CHECKS> = { kind: K } & Checked<(typeof CHECKS)[K]>;

/** What is recorded about the protections of a session. */
export type LedgerRecord = { [K in keyof typeof CHECKS]: RecordOf<K> }[keyof typeof CHECKS];

/** The stored form of a record. */
export function dataOf(record: LedgerRecord): Record<string, unknown> {
  return { v: VERSION, ...record };
}

/** The record in a message's data; `undefined` if it is not a known record. */
export function parseRecord(data: unknown): LedgerRecord | undefined {
  if (!isObject(data) || data.v !== VERSION) return undefined;
  const { v: _, ...record } = data;
  return isRecord(record) ? record : undefined;
}

function isRecord(
  record: Record<string, unknown>,
): record is Record<string, unknown> & LedgerRecord {
  const { kind } = record;
  return (
    typeof kind === 'string' &&
    Object.hasOwn(CHECKS, kind) &&
    CHECKS[kind as keyof typeof CHECKS](record)
  );
}

/**
 * Records as they will be read back from the store.
 * @throws `VALUE_INVALID` for a record that could not be read back
 */
export function plainRecords(records: readonly LedgerRecord[]): LedgerRecord[] {
  const copies: unknown = JSON.parse(
    JSON.stringify(records, (_, value) =>
      typeof value === 'string' ? value.toWellFormed() : value,
    ),
  );
  if (
    Array.isArray(copies) &&
    copies.every((copy): copy is LedgerRecord => isObject(copy) && isRecord(copy))
  )
    return copies;
  throw new EthosError(
    'VALUE_INVALID',
    'a record of the session was not written, since it is not plain data that can be read again',
  );
}
