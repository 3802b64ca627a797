import { isAnything, isBoolean, isCount, isObject, isShape, isString } from '@ethosagent/policy';

/** The version of what `data` of a message holds, as in `records.ts`. */
const VERSION = 1;

// Versions before 0.1.0 kept questions and decisions in the journal. Those of a session are in its
// ledger now. Nobody writes these any more.
const isAsked = isShape({
  turn: isCount,
  approval: (value): value is { toolCallId: string } =>
    isObject(value) && isString(value.toolCallId),
});
const isDecided = isShape(
  { turn: isCount, call: isString, approved: isBoolean },
  { args: isAnything },
);

/** A question or a decision in a journal that an earlier version wrote. */
export type EarlierRecord =
  | { kind: 'asked'; turn: number; call: string }
  | { kind: 'decided'; turn: number; call: string; args?: unknown };

/** What the data of a message says that an earlier version wrote, or `undefined`. */
export function parseEarlier(data: unknown): EarlierRecord | undefined {
  if (!isObject(data) || data.v !== VERSION) return undefined;
  if (data.kind === 'asked' && isAsked(data)) {
    return { kind: 'asked', turn: data.turn, call: data.approval.toolCallId };
  }
  if (data.kind !== 'decided' || !isDecided(data)) return undefined;
  const { turn, call } = data;
  return { kind: 'decided', turn, call, ...('args' in data && { args: data.args }) };
}
