import { fuzz } from '@ethosagent/conformance/fuzz';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AgentRecord, messageOf, parseRecord } from './records.js';

const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 2, costUsd: 0.5 };
const RECORDS: AgentRecord[] = [
  {
    kind: 'user',
    turn: 1,
    prompt: 'Hi',
    attachments: [{ id: 'i', name: 'n', mediaType: 'text/plain', sizeBytes: 1 }],
    untrusted: true,
  },
  {
    kind: 'step',
    turn: 1,
    step: 1,
    parts: [
      { type: 'reasoning', text: 'hm', metadata: { p: { signature: 's' } } },
      { type: 'text', text: 'Hi' },
      { type: 'call', id: 'c', name: 'pay', input: { amount: 1 } },
      {
        type: 'call',
        id: 'd',
        name: 'x',
        input: {},
        problem: { code: 'input_invalid', error: 'why' },
      },
    ],
    usage,
    finish: 'tool-calls',
  },
  { kind: 'started', turn: 1, calls: ['c'] },
  { kind: 'result', turn: 1, call: 'c', output: 'paid', ok: true, costUsd: 0.5, untrusted: true },
  { kind: 'result', turn: 1, call: 'c', output: 'no', ok: false, code: 'STALE_WRITE' },
  { kind: 'started', turn: 1, calls: ['c'], edited: { amount: 2 } },
  { kind: 'resumed', turn: 1 },
  { kind: 'context', turn: 1, cleared: ['c'] },
  {
    kind: 'context',
    turn: 1,
    cleared: [],
    summary: { upTo: { turn: 1, step: 2 }, text: 'So.', digest: 'd', usage, marked: true },
    untrusted: true,
  },
  { kind: 'images_refused', turn: 1, calls: ['c'] },
  { kind: 'end', turn: 1, end: 'max_steps', message: 'why' },
];

describe('parseRecord', () => {
  it.each(RECORDS)('reads what was written of $kind', (record) => {
    const { data } = messageOf(record, () => 'pay');
    expect(parseRecord(JSON.parse(JSON.stringify(data)))).toMatchObject({ ...record });
  });

  fuzz('never throws, and takes nothing that is not one', fc.anything(), (data) => {
    expect(parseRecord(data)).toBeUndefined();
  });

  fuzz(
    'notices a field that is of another kind',
    fc.record({
      record: fc.constantFrom(...RECORDS),
      value: fc.constantFrom(null, [], 'x', -1, {}, true),
    }),
    ({ record, value }) => {
      for (const key of Object.keys(record)) {
        // The arguments of a tool may have any type.
        if (key === 'kind' || key === 'edited') continue;
        const field: unknown = Object.entries(record).find(([name]) => name === key)?.[1];
        if (kindOf(field) === kindOf(value)) continue;
        expect(parseRecord({ v: 1, ...record, [key]: value }), key).toBeUndefined();
      }
    },
  );
});

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  return typeof value;
}
