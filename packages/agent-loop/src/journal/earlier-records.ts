import { isAnything, isBoolean, isCount, isObject, isShape, isString } from '@ethosagent/policy';

/** The version of `data` in a message, as in `records.ts`. */
const VERSION = 1;

// Versions before 0.1.0 kept questions and decisions in the journal. They are in the session's
// ledger now, and these records are no longer written.
const isAsked = isShape({
  turn: isCount,
  approval: (value): value is { toolCallId: string } =>
    isObject(value) && isString(value.toolCallId),
});
const isDecided = isShape(
  { turn: isCount, call: isString, approved: isBoolean },
  { args: isAnything },
);

/** A question or a decision that an earlier version wrote into a journal. */
export type EarlierRecord =
  | { kind: 'asked'; turn: number; call: string }
  | { kind: 'decided'; turn: number; call: string; args?: unknown };

/** The record of an earlier version in a message's data, or `undefined`. */
export function parseEarlier(data: unknown): EarlierRecord | undefined {
  if (!isObject(data) || data.v !== VERSION) return undefined;
  if (data.kind === 'asked' && isAsked(data)) {
    return { kind: 'asked', turn: data.turn, call: data.approval.toolCallId };
  }
  if (data.kind !== 'decided' || !isDecided(data)) return undefined;
  const { turn, call } = data;
  return { kind: 'decided', turn, call, ...('args' in data && { args: data.args }) };
}
