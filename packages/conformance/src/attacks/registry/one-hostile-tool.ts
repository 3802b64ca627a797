import { countTries } from '@ethosagent/test-support';
import type { ToolContext, ToolProgressEvent, ToolRegistry, ToolResult } from '@ethosagent/types';
import { TOOL_ERROR_CODES } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { type Behaviour, batchContext, type CreateRegistry, callsOf, ok, toolOf } from './batch.js';
import { FAILING, SUCCEEDING } from './hostile-tools.js';

const BUDGET = 30_000;
/** The most characters that are added to a cut text. */
const MARKER_CHARS = 60;

/** The properties of a result. */
const KEYS: readonly string[] = ['ok', 'error', 'code', 'cause'];

export function hostileToolAttacks(create: CreateRegistry): void {
  describe('one hostile tool among honest ones', () => {
    it.for(FAILING)(
      'one that %s fails, and harms no other call',
      async ([, behaviour], context) => {
        const result = await runAmongHonest(create(), behaviour);
        expect(result).toMatchObject({ ok: false, error: expect.any(String) });
        expect(Object.keys(result ?? {}).every((key) => KEYS.includes(key))).toBe(true);
        expect(Object.keys(TOOL_ERROR_CODES)).toContain(result?.ok === false && result.code);
        countTries(context, 'batches', 1);
      },
    );

    it.for(SUCCEEDING)(
      'one that %s is answered, and harms no other call',
      async ([, behaviour, expected], context) => {
        expect(await runAmongHonest(create(), behaviour)).toEqual(expected);
        countTries(context, 'batches', 1);
      },
    );

    it('a result that its tool keeps and changes later is not changed', async () => {
      const kept = { ok: true, value: 'v', structured: { rows: [1] } };
      const registry = create();
      registry.register(toolOf('t', () => kept));
      const [first] = await registry.executeParallel(callsOf(['t']), batchContext());
      kept.value = 'changed';
      kept.structured.rows.push(2);
      expect(first?.result).toEqual({ ok: true, value: 'v', structured: { rows: [1] } });
    });

    it('a result that the host changes does not change what its tool keeps', async () => {
      const kept = { ok: true, value: 'v', structured: { rows: [1] } };
      const registry = create();
      registry.register(toolOf('t', () => kept));
      const [first] = await registry.executeParallel(callsOf(['t']), batchContext());
      Object.assign(Object(first?.result), { value: 'changed' }).structured.rows.push(2);
      const [second] = await registry.executeParallel(callsOf(['t']), batchContext());
      expect(second?.result).toEqual({ ok: true, value: 'v', structured: { rows: [1] } });
    });

    it('a context that a tool keeps is of no use to the next call', async () => {
      let kept: ToolContext | undefined;
      const events: ToolProgressEvent[] = [];
      const registry = create();
      registry.register(
        toolOf('keeps', (_args, ctx) => {
          kept = ctx;
          return ok('v');
        }),
      );
      registry.register(
        toolOf('uses', () => {
          kept?.emit({ type: 'progress', toolName: 'uses', message: 'late' });
          return ok(String(kept?.sessionId));
        }),
      );
      const emit = (event: ToolProgressEvent) => events.push(event);
      await registry.executeParallel(callsOf(['keeps']), batchContext({ emit, sessionId: 'a' }));
      await registry.executeParallel(callsOf(['uses']), batchContext({ emit, sessionId: 'b' }));
      expect(events).toEqual([]);
    });
  });
}

/** Runs a hostile tool between two honest ones, which must not be affected. Returns its result. */
async function runAmongHonest(
  registry: ToolRegistry,
  behaviour: Behaviour,
): Promise<ToolResult | undefined> {
  const events: ToolProgressEvent[] = [];
  registry.register(toolOf('bad', behaviour, { timeoutMs: 50 }));
  registry.register(
    toolOf('good', async (args, ctx) => {
      await new Promise(setImmediate);
      ctx.emit({ type: 'progress', toolName: 'good', message: 'here' });
      return ok(`${ctx.sessionId} ${ctx.resultBudgetChars} ${JSON.stringify(args)}`);
    }),
  );
  const shared = { n: 1 };
  const ctx = batchContext({ resultBudgetChars: 3 * BUDGET, emit: (event) => events.push(event) });
  const results = await registry.executeParallel(callsOf(['good', 'bad', 'good'], shared), ctx);
  const honest = ok(`session ${BUDGET} {"n":1}`);
  expect(results).toEqual([
    { toolCallId: '0', name: 'good', result: honest },
    { toolCallId: '1', name: 'bad', result: expect.anything() },
    { toolCallId: '2', name: 'good', result: honest },
  ]);
  const here = { type: 'progress', toolName: 'good', message: 'here', audience: 'internal' };
  expect(events).toEqual([here, here]);
  expect(shared).toEqual({ n: 1 });
  expect(ctx.abortSignal.aborted).toBe(false);
  expect(Reflect.get({}, 'admin')).toBeUndefined();
  const result = results[1]?.result;
  const text = result?.ok ? result.value : String(result?.error);
  expect(text.isWellFormed()).toBe(true);
  expect(text.length).toBeLessThanOrEqual(BUDGET + MARKER_CHARS);
  return result;
}
