import { fuzz } from '@ethosagent/conformance/fuzz';
import { countTries } from '@ethosagent/test-support';
import type { QuotaLimits, QuotaPolicy } from '@ethosagent/types';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { untyped } from '../testing/batch.js';
import { CallQuotas } from './call-quotas.js';
import { type CountedQuota, Meter } from './meter.js';

const COUNTED = ['requests', 'bytes_in', 'bytes_out', 'files_written'] as const;

function denialOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

const denied = (rule: string) => expect.objectContaining({ code: 'QUOTA_EXCEEDED', rule });

describe('CallQuotas.spend', () => {
  it.each<[name: string, QuotaPolicy, amounts: number[], rule: string | undefined]>([
    ['what fits the call exactly', { per_call: { requests: 3 } }, [1, 2], undefined],
    ['one more', { per_call: { requests: 3 } }, [1, 2, 1], 'quota per_call.requests'],
    ['of nothing', { per_call: { requests: 0 } }, [1], 'quota per_call.requests'],
    ['nothing of nothing', { per_call: { requests: 0 } }, [0], undefined],
    ['without a cap', { per_call: { bytes_in: 0 } }, [1e9], undefined],
    [
      'over the session alone',
      { per_call: { requests: 9 }, per_session: { requests: 1 } },
      [1, 1],
      'quota per_session.requests',
    ],
    ['a cap that is NaN', { per_call: { requests: Number.NaN } }, [1], 'quota per_call.requests'],
    ['a cap below 0', { per_session: { requests: -1 } }, [1], 'quota per_session.requests'],
    [
      'a cap that is text',
      { per_call: untyped({ requests: 'x' }) },
      [1],
      'quota per_call.requests',
    ],
  ])('%s', (_name, policy, amounts, rule) => {
    const quotas = new CallQuotas(policy, new Meter());
    const last = denialOf(() => {
      for (const amount of amounts) quotas.spend('requests', amount);
    });
    expect(last).toEqual(rule === undefined ? undefined : denied(rule));
  });

  it.each([Number.NaN, -1, -0.001, Infinity, -Infinity, '1', null, undefined, {}])(
    'refuses %s as an amount, capped or not',
    (amount) => {
      const quotas = new CallQuotas({ per_call: { requests: 5 } }, new Meter());
      for (const quota of ['requests', 'bytes_in'] as const) {
        expect(denialOf(() => quotas.spend(quota, untyped(amount)))).toEqual(
          denied(`quota ${quota}: malformed amount`),
        );
      }
      quotas.spend('requests', 5);
    },
  );

  it('takes nothing from the call when the session refuses, and the other way round', () => {
    const session = new Meter();
    const first = new CallQuotas(
      { per_call: { bytes_in: 10 }, per_session: { bytes_in: 6 } },
      session,
    );
    expect(denialOf(() => first.spend('bytes_in', 7))).toEqual(
      denied('quota per_session.bytes_in'),
    );
    first.spend('bytes_in', 6);
    const wide = new CallQuotas(
      { per_call: { bytes_in: 1 }, per_session: { bytes_in: 8 } },
      session,
    );
    expect(denialOf(() => wide.spend('bytes_in', 2))).toEqual(denied('quota per_call.bytes_in'));
    wide.spend('bytes_in', 1);
    expect(session.used('bytes_in')).toBe(7);
  });

  it('takes nothing of several quotas when one of them is refused', () => {
    const session = new Meter();
    const quotas = new CallQuotas(
      { per_call: { requests: 2 }, per_session: { bytes_out: 5 } },
      session,
    );
    expect(denialOf(() => quotas.spendAll({ requests: 1, bytes_out: 6 }))).toEqual(
      denied('quota per_session.bytes_out'),
    );
    expect(denialOf(() => quotas.spendAll({ bytes_out: 5, requests: 3 }))).toEqual(
      denied('quota per_call.requests'),
    );
    expect([session.used('requests'), session.used('bytes_out')]).toEqual([0, 0]);
    quotas.spendAll({ requests: 2, bytes_out: 5 });
    expect([session.used('requests'), session.used('bytes_out')]).toEqual([2, 5]);
  });

  it('counts for the session what a call without caps on it used', () => {
    const session = new Meter();
    new CallQuotas({}, session).spend('requests', 4);
    const capped = new CallQuotas({ per_session: { requests: 5 } }, session);
    capped.spend('requests', 1);
    expect(denialOf(() => capped.spend('requests', 1))).toBeDefined();
  });

  it('says what was used of which cap, and whom to ask', () => {
    const quotas = new CallQuotas({ per_session: { requests: 3 } }, new Meter());
    quotas.spend('requests', 3);
    expect(String(denialOf(() => quotas.spend('requests', 1)))).toBe(
      'CapabilityError: QUOTA_EXCEEDED: this session has used 3 of 3 requests, and this needs 1 more; use less, or ask the operator to raise safety.quotas.per_session.requests',
    );
  });
});

const cap = fc.option(fc.nat(30), { nil: undefined });
const limits = (names: readonly string[]) =>
  fc
    .record(Object.fromEntries(names.map((name) => [name, cap])))
    .map(
      (caps): QuotaLimits =>
        Object.fromEntries(Object.entries(caps).filter(([, value]) => value !== undefined)),
    );
const policyOf = (names: readonly string[]) =>
  fc.record({ per_call: limits(names), per_session: limits(names) });

const CALLS = 3;
const call = fc.nat(CALLS - 1);

/** The calls of one session, some under another policy, with a model of their meters. */
function callsOf(policies: readonly QuotaPolicy[]) {
  const session = new Meter();
  const calls = policies.map((policy) => ({ policy, quotas: new CallQuotas(policy, session) }));
  return Object.assign(calls, { session });
}

describe('CallQuotas', () => {
  fuzz(
    'spend allows what fits every cap and nothing else, in any interleaving of calls',
    fc.tuple(
      fc.array(policyOf(COUNTED), { minLength: CALLS, maxLength: CALLS }),
      fc.array(fc.tuple(call, fc.constantFrom(...COUNTED), fc.nat(12)), { maxLength: 60 }),
    ),
    ([policies, spends]) => {
      const calls = callsOf(policies);
      const taken: [call: number, quota: CountedQuota, amount: number][] = [];
      const sum = (quota: CountedQuota, of?: number) =>
        taken.reduce(
          (total, [by, what, amount]) =>
            what === quota && (of === undefined || of === by) ? total + amount : total,
          0,
        );
      for (const [index, quota, amount] of spends) {
        const { policy, quotas } = calls[index] ?? expect.fail();
        const fits =
          amount === 0 ||
          (sum(quota, index) + amount <= (policy.per_call?.[quota] ?? Infinity) &&
            sum(quota) + amount <= (policy.per_session?.[quota] ?? Infinity));
        expect(denialOf(() => quotas.spend(quota, amount)) === undefined).toBe(fits);
        if (fits) taken.push([index, quota, amount]);
      }
    },
    { promised: 'quotas' },
  );

  type StoreStep =
    | { do: 'write'; call: number; key: string; bytes: number }
    | { do: 'settle'; nth: number; ok: boolean };
  const storeStep: fc.Arbitrary<StoreStep> = fc.oneof(
    fc.record({
      do: fc.constant('write'),
      call,
      key: fc.constantFrom('a', 'b', 'c'),
      bytes: fc.nat(20),
    }),
    fc.record({ do: fc.constant('settle'), nth: fc.nat(5), ok: fc.boolean() }),
  );

  fuzz(
    'spendStore allows a write when the most that can be left fits, and nothing else',
    fc.tuple(
      fc.array(policyOf(['store_bytes']), { minLength: CALLS, maxLength: CALLS }),
      fc.array(storeStep, { maxLength: 60 }),
    ),
    ([policies, steps]) => {
      const calls = callsOf(policies);
      type Write = { call: number; key: string; bytes: number; settle: (ok: boolean) => void };
      const writes: (Write & { ok?: boolean })[] = [];
      /**
       * The bytes of one key, from its whole history. Overlapping writes count as the largest of
       * them.
       */
      const bytesOfKey = (history: typeof writes, events: typeof order) => {
        let bytes = 0;
        let together: typeof writes = [];
        for (const write of events) {
          if (!history.includes(write)) continue;
          if (!together.includes(write)) {
            together.push(write);
            continue;
          }
          const position = events.lastIndexOf(write);
          const open = together.some(
            (other) => other.ok === undefined || events.lastIndexOf(other) > position,
          );
          if (open) continue;
          const left = together.filter(({ ok }) => ok).map((other) => other.bytes);
          if (left.length > 0) bytes = Math.max(...left);
          together = [];
        }
        return Math.max(bytes, ...together.map((write) => write.bytes));
      };
      /** Every write appears twice: when it began and when it was settled. */
      const order: typeof writes = [];
      const bytesOf = (of?: number) =>
        ['a', 'b', 'c'].reduce(
          (total, key) =>
            total +
            bytesOfKey(
              writes.filter((each) => each.key === key && (of === undefined || each.call === of)),
              order,
            ),
          0,
        );
      for (const step of steps) {
        expect(calls.session.used('store_bytes')).toBe(bytesOf());
        if (step.do === 'settle') {
          const open = writes.filter((write) => write.ok === undefined);
          const write = open[step.nth % Math.max(1, open.length)];
          if (write === undefined) continue;
          write.settle(step.ok);
          write.ok = step.ok;
          order.push(write);
          continue;
        }
        const { policy, quotas } = calls[step.call] ?? expect.fail();
        const before = [bytesOf(step.call), bytesOf()];
        const { call, key, bytes } = step;
        const write: Write = { call, key, bytes, settle: () => {} };
        writes.push(write);
        order.push(write);
        const after = [bytesOf(call), bytesOf()];
        const caps = [policy.per_call?.store_bytes, policy.per_session?.store_bytes];
        const fits = caps.every(
          (max, level) =>
            after[level] === before[level] || (after[level] ?? 0) <= (max ?? Infinity),
        );
        const denial = denialOf(() => {
          write.settle = quotas.spendStore(key, bytes);
        });
        expect(denial === undefined).toBe(fits);
        if (!fits) {
          writes.pop();
          order.pop();
        }
      }
    },
    { promised: 'quotas' },
  );
});

describe('CallQuotas.spendTime', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('ends one process when its second is up, and counts until it is stopped', () => {
    const session = new Meter();
    const quotas = new CallQuotas({ per_call: { process_seconds: 1 } }, session);
    const over = vi.fn();
    const stop = quotas.spendTime(over);
    vi.advanceTimersByTime(999);
    expect(over).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(over.mock.calls).toEqual([[denied('quota per_call.process_seconds')]]);
    // The quota is used up, so no timer is left, although the process has not ended yet.
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(500);
    stop();
    stop();
    vi.advanceTimersByTime(5000);
    expect(session.used('process_seconds')).toBe(1.5);
    expect(over).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('lets four processes run a quarter of the time, whichever calls they belong to', () => {
    const session = new Meter();
    const over = vi.fn();
    for (let n = 0; n < 4; n++) {
      new CallQuotas({ per_session: { process_seconds: 2 } }, session).spendTime(over);
    }
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(499);
    expect(over).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(over).toHaveBeenCalledTimes(4);
  });

  it.each([0, -1, Number.NaN])('starts nothing under a cap of %s', (process_seconds) => {
    const quotas = new CallQuotas({ per_call: { process_seconds } }, new Meter());
    expect(denialOf(() => quotas.spendTime(() => {}))).toEqual(
      denied('quota per_call.process_seconds'),
    );
    expect(vi.getTimerCount()).toBe(0);
  });

  it('starts nothing when the time is used up, also by what still runs', () => {
    const quotas = new CallQuotas({ per_session: { process_seconds: 1 } }, new Meter());
    const stop = quotas.spendTime(() => {});
    vi.advanceTimersByTime(1000);
    const late = denied('quota per_session.process_seconds');
    expect(denialOf(() => quotas.spendTime(() => {}))).toEqual(late);
    stop();
    expect(denialOf(() => quotas.spendTime(() => {}))).toEqual(late);
  });

  it('tells once when the call and the session run out together', () => {
    const caps = { process_seconds: 1 };
    const over = vi.fn();
    new CallQuotas({ per_call: caps, per_session: caps }, new Meter()).spendTime(over);
    vi.advanceTimersByTime(10_000);
    expect(over).toHaveBeenCalledTimes(1);
  });

  type TimeStep =
    | { do: 'start'; call: number }
    | { do: 'stop'; nth: number }
    | { do: 'wait'; ms: number };
  const timeStep: fc.Arbitrary<TimeStep> = fc.oneof(
    fc.record({ do: fc.constant('start'), call }),
    fc.record({ do: fc.constant('stop'), nth: fc.nat(5) }),
    fc.record({ do: fc.constant('wait'), ms: fc.nat(900) }),
  );

  fuzz(
    'ends what runs when its call or session is out of time, and nothing before',
    fc.tuple(
      fc.array(
        fc.record({
          per_call: fc.record({ process_seconds: fc.nat(4) }),
          per_session: fc.record({ process_seconds: fc.nat(4) }),
        }),
        { minLength: CALLS, maxLength: CALLS },
      ),
      fc.array(timeStep, { maxLength: 40 }),
    ),
    ([policies, steps]) => {
      const calls = callsOf(policies);
      const usedMs = [...calls.map(() => 0), 0];
      const runs: { call: number; stop: () => void; overs: number }[] = [];
      const leftMs = (index: number) =>
        Math.min(
          (policies[index]?.per_call?.process_seconds ?? 0) * 1000 - (usedMs[index] ?? 0),
          (policies[index]?.per_session?.process_seconds ?? 0) * 1000 - (usedMs[CALLS] ?? 0),
        );
      for (const step of steps) {
        if (step.do === 'start') {
          const run = { call: step.call, stop: () => {}, overs: 0 };
          const denial = denialOf(() => {
            run.stop = calls[step.call]?.quotas.spendTime(() => run.overs++) ?? expect.fail();
          });
          expect(denial === undefined).toBe(leftMs(step.call) > 0);
          if (denial === undefined) runs.push(run);
        } else if (step.do === 'stop') {
          for (const run of runs.splice(step.nth % Math.max(1, runs.length), 1)) run.stop();
        } else {
          vi.advanceTimersByTime(step.ms);
          for (const run of runs) {
            usedMs[run.call] = (usedMs[run.call] ?? 0) + step.ms;
            usedMs[CALLS] = (usedMs[CALLS] ?? 0) + step.ms;
          }
        }
        for (const run of runs) {
          expect(run.overs).toBeLessThanOrEqual(1);
          if (leftMs(run.call) > 0) expect(run.overs).toBe(0);
          // A timer counts whole milliseconds. In each of them, the other processes used one too.
          if (leftMs(run.call) <= -runs.length) expect(run.overs).toBe(1);
        }
      }
      for (const { stop } of runs) stop();
      expect(vi.getTimerCount()).toBe(0);
    },
    { promised: 'quotas' },
  );
});

describe('CallQuotas.spendStore', () => {
  it('keeps nothing of a write that failed, and what was there of one that did not shrink it', (context) => {
    const session = new Meter();
    const quotas = new CallQuotas({ per_session: { store_bytes: 10 } }, session);
    quotas.spendStore('k', 8)(true);
    expect(denialOf(() => quotas.spendStore('k', 11))).toEqual(
      denied('quota per_session.store_bytes'),
    );
    const failed = quotas.spendStore('k', 10);
    expect(denialOf(() => quotas.spendStore('other', 1))).toBeDefined();
    failed(false);
    expect(session.used('store_bytes')).toBe(8);
    const removal = quotas.spendStore('k', 0);
    expect(session.used('store_bytes')).toBe(8);
    removal(true);
    removal(false);
    expect(session.used('store_bytes')).toBe(0);
    countTries(context, 'quotas', 2);
  });

  it('lets a session over its cap shrink and remove', () => {
    const session = new Meter();
    new CallQuotas({ per_session: { store_bytes: 100 } }, session).spendStore('k', 90)(true);
    const narrow = new CallQuotas({ per_session: { store_bytes: 5 } }, session);
    narrow.spendStore('k', 50)(true);
    expect(denialOf(() => narrow.spendStore('k', 51))).toBeDefined();
    narrow.spendStore('k', 0)(true);
    narrow.spendStore('k', 5)(true);
    expect(session.used('store_bytes')).toBe(5);
  });
});
