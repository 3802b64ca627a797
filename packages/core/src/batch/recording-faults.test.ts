import { setImmediate } from 'node:timers/promises';
import type { AuditSink } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import type { CallError } from '../call-hooks.js';
import { createInMemoryKvStore } from '../in-memory-kv.js';
import { batchContext, makeTool, ok, untyped } from '../testing/batch.js';
import { DefaultToolRegistry } from '../tool-registry.js';
import type { TurnHost } from '../turn-host.js';
import type { ToolRegistryOptions } from './batch.js';

const fail = () => {
  throw new TypeError('out of order');
};
const nothing = () => {};
const recorded: AuditSink = { record: nothing, call: nothing };

const NOW: Array<[string, () => number]> = [
  ['gives NaN', () => Number.NaN],
  ['gives a time beyond all dates', () => 1e300],
  ['throws', fail],
];

const SINKS: Array<[string, AuditSink]> = [
  ['records', recorded],
  ['throws', { record: fail, call: fail }],
  ['keeps its events later', { ...recorded, flush: async () => {} }],
  ['keeps none of its events', { record: fail, call: fail, flush: async () => fail() }],
];

const NAMES = ['quick', 'slow', 'fails', 'unknown', 'quick', 'stores'];
const calls = NAMES.map((name, index) => ({ toolCallId: `${index}`, name, args: {} }));

/** Runs calls of every kind, one at a time, so that one that keeps its place would stop the rest. */
function run(audit: AuditSink, options: ToolRegistryOptions, host?: TurnHost) {
  const { kvStoreFactory } = createInMemoryKvStore();
  const registry = new DefaultToolRegistry({ audit, kvStoreFactory }, undefined, {
    maxConcurrency: 1,
    ...options,
  });
  registry.register(makeTool('quick'));
  registry.register(makeTool('slow', () => setImmediate(ok('done'))));
  registry.register(makeTool('fails', fail));
  registry.register(
    makeTool('stores', async (_args, ctx) => ok(`${await ctx.kvStore?.set('k', 'written')}`), {
      capabilities: { storage: { scope: 'tool-private', kind: 'kv' } },
    }),
  );
  return {
    store: kvStoreFactory('stores', 'tool:stores'),
    answers: registry.executeParallel(calls, batchContext(), undefined, undefined, [], host),
  };
}

describe.each(NOW)('a clock of the host that %s', (_clock, now) => {
  it.each(SINKS)('withholds each answer, where the sink %s', async (_sink, audit) => {
    const { answers } = run(audit, { now });
    expect(await answers).toMatchObject(
      calls.map(({ toolCallId, name }) => ({
        toolCallId,
        name,
        result: { ok: false, cause: 'AUDIT_FAILED' },
      })),
    );
  });

  it('lets no access happen, and says that none could be recorded', async () => {
    const { answers, store } = run({ record: nothing }, { now });
    const [, , , , , stores] = await answers;
    expect(stores?.result).toMatchObject({
      ok: false,
      error: expect.stringMatching(/^AUDIT_FAILED: the access could not be recorded/),
    });
    expect(await store.get('k')).toBeNull();
  });

  it('tells the host why, and waits for its afterCall', async () => {
    const errors: CallError[] = [];
    const ended: string[] = [];
    const { answers } = run(recorded, {
      now,
      onError: (failed) => void errors.push(failed),
      afterCall: async ({ toolCallId }) => void ended.push(toolCallId),
    });
    await answers;
    expect(ended.toSorted()).toEqual(calls.map(({ toolCallId }) => toolCallId));
    expect(errors).toHaveLength(calls.length);
    expect(errors.map(({ cause }) => cause)).toEqual(calls.map(() => 'AUDIT_FAILED'));
  });
});

describe('a host of a turn that fails', () => {
  it.each<[string, TurnHost]>([
    ['where it is asked for what a tool reads', { watchSources: fail }],
    ['where a call begins', { beforeRun: fail }],
    ['where it is told of an answer', { onResult: fail }],
  ])('%s: each call has its answer', async (_where, host) => {
    const answers = await run(recorded, {}, untyped(host)).answers;
    expect(answers.map(({ name }) => name)).toEqual(NAMES);
  });
});

it('a sink that can not even be read: each answer is withheld', async () => {
  const audit = Object.defineProperty({ ...recorded }, 'call', { get: fail });
  const answers = await run(audit, {}).answers;
  expect(answers.map(({ name }) => name)).toEqual(NAMES);
  const causes = answers.map(({ result }) => !result.ok && result.cause);
  expect(new Set(causes)).toEqual(new Set(['AUDIT_FAILED']));
});
