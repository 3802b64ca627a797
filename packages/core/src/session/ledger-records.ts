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
    // The untrusted content that was known to whoever was asked.
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
  /** A call that was decided on is taken up: it runs now, or its refusal was told. */
  taken: isShape({ call: isString, question: isString }),
  /** A question that nobody is to answer any more: its call does not run. */
  withdrawn: isShape({ call: isString, question: isString }),
  granted: isShape({ grant: isGrant }),
  revoked: isShape({ grant: isString }),
  /** What was used up of the limits of a session. */
  used: isShape({ calls: isAmount, costUsd: isAmount }),
  /** Files and folders that were changed with untrusted content at hand. */
  written: isShape({ paths: isListOf(isString) }),
  /** An operator has looked at them. */
  cleared: isShape({ paths: isListOf(isString) }),
};

export type RecordOf<K extends keyof typeof CHECKS> = { kind: K } & Checked<(typeof CHECKS)[K]>;

/** What is written down of the protections of a session. */
export type LedgerRecord = { [K in keyof typeof CHECKS]: RecordOf<K> }[keyof typeof CHECKS];

/** What is stored of a record. */
export function dataOf(record: LedgerRecord): Record<string, unknown> {
  return { v: VERSION, ...record };
}

/** The record of a message's data; `undefined` for what is none that is known. */
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
 * Records as whoever reads them will see them.
 * @throws `VALUE_INVALID` for what could not be read again
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
    'what was to be written down of the session could not be read again',
  );
}
