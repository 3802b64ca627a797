import { describe, expect, it } from 'vitest';
import { defineTool, err, ok } from '../index.js';
import { errorOf, structuredOf, textOf } from './results.js';
import { createToolWorld } from './tool-world.js';

const schema = { type: 'object', properties: {}, additionalProperties: false } as const;
const remember = defineTool({
  name: 'remember',
  description: 'Counts its calls.',
  schema,
  capabilities: { storage: { scope: 'session', kind: 'kv' } },
  async execute(_, { kvStore, emit }) {
    const calls = Number((await kvStore.get('calls')) ?? 0) + 1;
    await kvStore.set('calls', String(calls));
    emit({ type: 'progress', toolName: 'remember', message: `${calls}` });
    return ok(`${calls}`, { structured: { calls } });
  },
});
const fail = defineTool({
  name: 'fail',
  description: 'Fails.',
  schema,
  capabilities: {},
  execute: async () => err('as always', 'execution_failed'),
});

describe('createToolWorld', () => {
  it('keeps what tools store from one call to the next, for each session', async () => {
    const world = createToolWorld({ tools: [remember] });
    expect(textOf(await world.run('remember', {}))).toBe('1');
    const second = await world.run('remember', {});
    expect(structuredOf(second)).toEqual({ calls: 2 });
    expect(textOf(await world.run('remember', {}, { sessionId: 'other' }))).toBe('1');
    expect(world.events.map(({ message }) => message)).toEqual(['1', '2', '1']);
    expect(world.audit.events).toContainEqual(
      expect.objectContaining({ toolName: 'remember', decision: 'allowed' }),
    );
  });

  it('runs a batch, and answers in its order', async () => {
    const world = createToolWorld({ tools: [remember, fail] });
    const [first, second, third] = await world.runAll([
      ['fail', {}],
      ['remember', {}],
      ['none', {}],
    ]);
    expect(errorOf(first)).toBe('as always');
    expect(textOf(second)).toBe('1');
    expect(third).toMatchObject({ ok: false, code: 'not_available' });
  });
});

describe('textOf, structuredOf and errorOf', () => {
  it('throw what they were not made for', async () => {
    expect(() => textOf({ ok: false, error: 'gone', code: 'execution_failed' })).toThrow('gone');
    expect(() => structuredOf({ ok: true, value: 'no more' })).toThrow('no more');
    expect(() => errorOf({ ok: true, value: 'well' })).toThrow('well');
    expect(() => textOf(undefined)).toThrow('unexpected result');
  });
});
