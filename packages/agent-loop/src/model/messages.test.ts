import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentRecord } from '../journal/records.js';
import { SessionLog } from '../journal/session-log.js';
import { modelMessages } from './messages.js';

const usage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, costUsd: 0 };
const step = (parts: Extract<AgentRecord, { kind: 'step' }>['parts']): AgentRecord => ({
  kind: 'step',
  turn: 1,
  step: 1,
  parts,
  usage,
  finish: 'tool-calls',
});
const TAKEN = ['image/png'];
const user: AgentRecord = { kind: 'user', turn: 1, prompt: 'Hi' };

function logOf(...records: AgentRecord[]): SessionLog {
  const log = new SessionLog();
  for (const [index, record] of records.entries()) log.apply(record, index + 1);
  return log;
}

describe('modelMessages', () => {
  it('answers calls in their order, whichever came back first', () => {
    const { entries } = logOf(
      user,
      step([
        { type: 'reasoning', text: 'hm', metadata: { p: { signature: 's' } } },
        { type: 'text', text: 'Well.' },
        { type: 'call', id: 'a', name: 'x', input: { n: 1 } },
        { type: 'call', id: 'b', name: 'y', input: {}, metadata: { p: { id: 'i' } } },
      ]),
      { kind: 'result', turn: 1, call: 'b', output: 'no', ok: false, code: 'execution_failed' },
      { kind: 'result', turn: 1, call: 'a', output: 'one', ok: true },
    );
    expect(modelMessages(entries, { images: ['image/png'] })).toEqual([
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm', providerOptions: { p: { signature: 's' } } },
          { type: 'text', text: 'Well.' },
          { type: 'tool-call', toolCallId: 'a', toolName: 'x', input: { n: 1 } },
          {
            type: 'tool-call',
            toolCallId: 'b',
            toolName: 'y',
            input: {},
            providerOptions: { p: { id: 'i' } },
          },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'a',
            toolName: 'x',
            output: { type: 'text', value: 'one' },
          },
          {
            type: 'tool-result',
            toolCallId: 'b',
            toolName: 'y',
            output: { type: 'error-text', value: 'no' },
          },
        ],
      },
    ]);
  });

  it('leaves out an image of a kind that this model does not take', () => {
    const kinds = ['image/png', 'image/gif'];
    const images = kinds.map((mediaType) => ({ mediaType, data: mediaType }));
    const { entries } = logOf(user, step([{ type: 'call', id: 'a', name: 'x', input: {} }]), {
      kind: 'result',
      turn: 1,
      call: 'a',
      output: 'both',
      ok: true,
      images,
    });
    const told = JSON.stringify(modelMessages(entries, { images: ['image/png'] }));
    expect(told).toContain('"data":"image/png"');
    expect(told).not.toContain('"data":"image/gif"');
    expect(told).toContain('images of this result are left out: this model does not take them');
  });

  it('names the files that came with a prompt', () => {
    const files = [{ id: 'i', name: 'a"\n.txt', mediaType: 'text/plain', sizeBytes: 3 }];
    const { entries } = logOf({ ...user, kind: 'user', turn: 1, prompt: 'Hi', attachments: files });
    expect(modelMessages(entries, { images: false })).toEqual([
      {
        role: 'user',
        content:
          'Hi\n\nAttached files:\n- {"id":"i","name":"a\\".txt","mediaType":"text/plain","sizeBytes":3}',
      },
    ]);
  });

  it.each([
    [true, ['text', 'image-data', 'image-data', 'image-data', 'image-data']],
    [false, []],
  ])('shows the last images, where the model takes them: %s', (images, expected) => {
    const four = () => [1, 2, 3, 4].map((n) => ({ mediaType: 'image/png', data: `${n}` }));
    const calls = ['a', 'b', 'c', 'd', 'e'].map((id) => ({
      type: 'call' as const,
      id,
      name: 'shot',
      input: {},
    }));
    const results = calls.map(
      ({ id }): AgentRecord => ({
        kind: 'result',
        turn: 1,
        call: id,
        output: id,
        ok: true,
        images: four(),
      }),
    );
    const { entries } = logOf(user, step(calls), ...results);
    const [, , answers] = modelMessages(entries, { images: images && ['image/png'] });
    const outputs = answers?.role === 'tool' ? answers.content : [];
    const shown = outputs.map((part) =>
      part.type === 'tool-result' && part.output.type === 'content'
        ? part.output.value.map(({ type }) => type)
        : [],
    );
    // The fifth image exceeds the limit of sixteen. Eight stay, so that the next ones change
    // nothing.
    expect(shown).toEqual([[], [], [], expected, expected]);
  });

  it('says what a log says that was never read before, whatever happens to its results', () => {
    const image = (n: number) => ({ mediaType: n % 2 ? 'image/gif' : 'image/png', data: `${n}` });
    // A step with calls, whose results have so many images, or an old result that is cleared. With
    // more than 16 images the oldest are dropped.
    const operation = fc.oneof(
      fc.array(fc.constantFrom(0, 1, 6), { minLength: 1, maxLength: 3 }),
      fc.nat(20),
    );
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 12 }), fc.boolean(), (operations, isTaken) => {
        const images = isTaken && TAKEN;
        const records: AgentRecord[] = [];
        const log = new SessionLog();
        const expectAsFresh = (shown: string[] | false) => {
          const fresh = logOf(...structuredClone(records));
          expect(modelMessages(log.entries, { images: shown })).toEqual(
            modelMessages(fresh.entries, { images: shown }),
          );
        };
        const apply = (record: AgentRecord) => {
          records.push(structuredClone(record));
          log.apply(record, records.length);
          expectAsFresh(images);
        };
        apply({ ...user });
        const ids: string[] = [];
        for (const each of operations) {
          if (typeof each === 'number') {
            const id = ids[each % ids.length];
            if (id !== undefined) apply({ kind: 'context', turn: 1, cleared: [id] });
            continue;
          }
          const made = each.map((_, at) => `c${ids.length + at}`);
          ids.push(...made);
          apply(step(made.map((id) => ({ type: 'call', id, name: 'x', input: {} }))));
          for (const [at, count] of each.entries()) {
            const own = Array.from({ length: count }, (_, n) => image(n));
            const call = made[at] ?? '';
            const output = `Out ${call}`;
            apply({ kind: 'result', turn: 1, call, output, ok: true, images: own });
          }
        }
        // Another model goes on with the session.
        expectAsFresh(isTaken ? false : TAKEN);
      }),
    );
  });

  it('makes the messages of a step once, as long as its results stay', () => {
    const call = { type: 'call' as const, id: 'a', name: 'x', input: {} };
    const log = logOf(user, step([call]));
    const images = ['image/png'];
    const read = () => modelMessages(log.entries, { images });
    const open = read();
    log.apply({ kind: 'result', turn: 1, call: 'a', output: 'one', ok: true }, 3);
    const [, ...answered] = read();
    expect(answered).not.toEqual(open.slice(1));
    const [, ...again] = read();
    expect(again.map((message, at) => message === answered[at])).toEqual([true, true]);
  });
});
