import { TRUNCATION_MARKER } from '@ethosagent/policy';
import { collectGarbage, countTries, isLongRun } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { batchContext, type CreateRegistry, callsOf, ok, toolOf, untyped } from './batch.js';

const CALLS = 10_000;
const GRAPHEMES = ['👩‍🚀', 'e\u0301', '🏳️‍🌈', '1️⃣', 'क्‍ष', '🇺🇳', 'x', '👍🏽', '\ud83d'];

/** Attacks with hostile budgets, and with very many or very large results. */
export function hostileLoadAttacks(create: CreateRegistry): void {
  describe('hostile budgets', () => {
    const amounts = [
      Number.NaN,
      -5,
      0,
      0.5,
      7,
      1e308,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
    ];
    const strange = ['10', null, {}, 10n].map(untyped);
    const text = GRAPHEMES.join('').repeat(100).toWellFormed();

    for (const amount of [...amounts, ...strange]) {
      it.for(['the turn', 'the tool'])(
        `${String(amount)} characters for %s`,
        async (whose, context) => {
          const registry = create();
          const rest = whose === 'the tool' ? { maxResultChars: amount } : {};
          registry.register(toolOf('t', () => ok(text), rest));
          const ctx = whose === 'the tool' ? {} : { resultBudgetChars: amount };
          const [only] = await registry.executeParallel(callsOf(['t']), batchContext(ctx));
          const value = only?.result.ok ? only.result.value : '';
          expect(text.startsWith(value.replace(TRUNCATION_MARKER, ''))).toBe(true);
          countTries(context, 'batches', 1);
        },
      );
    }

    it('every cut is well-formed, within the budget, and a beginning of the text', async (context) => {
      const registry = create();
      registry.register(toolOf('t', () => ok(GRAPHEMES.join(''))));
      const whole = GRAPHEMES.join('').toWellFormed();
      for (let budget = 0; budget <= whole.length; budget += 1) {
        const ctx = batchContext({ resultBudgetChars: budget });
        const [only] = await registry.executeParallel(callsOf(['t']), ctx);
        const value = only?.result.ok ? only.result.value : '';
        const kept = value.replace(TRUNCATION_MARKER, '');
        expect(value.isWellFormed()).toBe(true);
        expect(kept.length).toBeLessThanOrEqual(budget);
        expect(kept.length).toBeGreaterThanOrEqual(budget - 1);
        expect(whole.startsWith(kept)).toBe(true);
        expect(kept === whole || TRUNCATION_MARKER.test(value)).toBe(true);
      }
      countTries(context, 'batches', whole.length + 1);
    });
  });

  describe('very many calls', () => {
    it('10,000 calls are begun and answered in order, within the cap of 32', async (context) => {
      let running = 0;
      let most = 0;
      const started: number[] = [];
      const registry = create();
      registry.register(
        toolOf('t', async (args) => {
          const { index } = Object(args);
          started.push(index);
          running += 1;
          most = Math.max(most, running);
          // Later calls finish before their neighbours.
          for (let turn = index % 5; turn >= 0; turn -= 1) await Promise.resolve();
          running -= 1;
          return ok(String(index));
        }),
      );
      const ordered = Array.from({ length: CALLS }, (_, index) => index);
      const calls = ordered.map((index) => ({
        toolCallId: `${index}`,
        name: 't',
        args: { index },
      }));
      const results = await registry.executeParallel(calls, batchContext());
      expect(results.map(({ toolCallId }) => Number(toolCallId))).toEqual(ordered);
      expect(results.map(({ result }) => result.ok && Number(result.value))).toEqual(ordered);
      expect(started).toEqual(ordered);
      expect(most).toBe(32);
      countTries(context, 'batches', 1);
    });

    it.runIf(isLongRun())('what is cut off of 100 results of 1 MB is not kept', async (context) => {
      const registry = create();
      let made = 0;
      registry.register(
        toolOf('t', async () => {
          await new Promise(setImmediate);
          made += 1;
          return ok(`${made}${'é'.repeat(1_000_000)}`);
        }),
      );
      const before = heapUsed();
      const results = await registry.executeParallel(callsOf(Array(100).fill('t')), batchContext());
      expect(heapUsed() - before).toBeLessThan(20_000_000);
      expect(results).toHaveLength(100);
      countTries(context, 'batches', 1);
    });
  });
}

/** Returns the used heap in bytes, after a garbage collection. */
function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
