import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fuzz } from '@ethosagent/conformance/fuzz';
import type { CallDecision, PendingApproval, ToolSession } from '@ethosagent/core';
import { errorCodeOf, type GrantScope } from '@ethosagent/types';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { SessionModel, type Tool, TwoRuntimes } from './fixtures/session-model.js';

const home = realpathSync(mkdtempSync(join(tmpdir(), 'session-attacks-')));
const world = new TwoRuntimes(home);
beforeAll(() => world.open());
afterAll(async () => {
  await world.close();
  rmSync(home, { recursive: true, force: true });
});

const small = fc.nat({ max: 1 });
/** The runtime, the session and the personality of a step. */
const where = fc.record({
  process: small,
  session: fc.constantFrom('s', 's', 's', 't'),
  personality: fc.constantFrom('p', 'p', 'p', 'q'),
});
const call = fc.record({
  id: fc.constantFrom('c1', 'c2'),
  tool: fc.constantFrom<Tool>('pay', 'send'),
  amount: fc.constantFrom(1, 2),
});
const decision = fc.oneof(
  { weight: 4, arbitrary: fc.constant<CallDecision>({ approved: true }) },
  { weight: 1, arbitrary: fc.constant<CallDecision>({ approved: false }) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(1, 2, 3)
      .map((amount): CallDecision => ({ approved: true, args: { amount } })),
  },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom<GrantScope>('session', 'arguments', 'tool')
      .map((always): CallDecision => ({ approved: true, always })),
  },
);
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('execute'), where, call }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('check'), where, call }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('decide'), where, nth: fc.nat(), decision }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('decide again'), where, nth: fc.nat(), decision }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('resume'), where }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('race'), where, other: where, call }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('race to resume'), where, other: where }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('revoke'), where, nth: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('read'), where, url: fc.constantFrom('x', 'y') }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('change the tool'), process: small, version: small }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('change the reach'), reach: small }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Where = typeof where extends fc.Arbitrary<infer T> ? T : never;
type Call = typeof call extends fc.Arbitrary<infer T> ? T : never;

let tries = 0;

/** One sequence of steps, in sessions of its own and with an owner of its own. */
class Attack {
  readonly #model = new SessionModel();
  readonly #user = `user${++tries}`;
  /** The questions that were shown, the oldest first. */
  readonly #shown: { approval: PendingApproval; session: Where['session'] }[] = [];

  async run(steps: readonly Step[]): Promise<void> {
    world.ran.length = 0;
    for (const process of [0, 1]) world.setVersion(process, 0);
    world.setReach(0);
    for (const each of steps) {
      const ids = ['s', 't'].map((id) => this.#id(id));
      const before = new Map(ids.map((id) => [id, new Set(this.#model.sourcesOf(id))]));
      await this.#take(each);
      for (const ran of world.ran.splice(0)) {
        const sources = before.get(ran.sessionId) ?? new Set();
        expect(this.#model.objection(ran, sources), JSON.stringify(each)).toBeUndefined();
      }
    }
  }

  async #take(step: Step): Promise<void> {
    if ('version' in step) return world.setVersion(step.process, step.version);
    if ('reach' in step) {
      this.#model.reach = step.reach;
      return world.setReach(step.reach);
    }
    const session = this.#session(step.where);
    if ('url' in step) {
      const args = { url: step.url };
      await session.execute([{ toolCallId: `read${tries}`, name: 'look', args }]);
      this.#model.sourcesOf(session.id).add(step.url);
      return;
    }
    if ('decision' in step) return this.#decide(step);
    if ('nth' in step) return this.#revoke(session, step.nth);
    if ('call' in step && step.kind === 'check') {
      const checked = await session.check(issued(step.call));
      if (checked.kind === 'asks') this.#note(step.where, checked.approval);
      return;
    }
    const both = 'other' in step ? [step.where, step.other] : [step.where];
    await Promise.all(
      both.map(async (at) => {
        const one = this.#session(at);
        const results =
          'call' in step ? await one.execute([issued(step.call)]) : await one.resume();
        for (const { approval } of results) if (approval !== undefined) this.#note(at, approval);
      }),
    );
  }

  async #decide({ where, nth, decision, kind }: Extract<Step, { decision: CallDecision }>) {
    const shown = this.#shown.at(nth % Math.max(1, this.#shown.length));
    if (shown === undefined) return;
    const { approval } = shown;
    const session = this.#session({ ...where, session: shown.session });
    const grantsBefore = new Set((await session.grants()).map(({ id }) => id));
    const outcome = await session.decide(approval, decision).then(
      () => 'made' as const,
      (error: unknown) => errorCodeOf(error),
    );
    const amount = amountOf(decision.args);
    const added = (await session.grants()).filter(({ id }) => !grantsBefore.has(id));
    if (outcome !== 'made') {
      const isDecided = this.#model.decided.has(approval.question);
      expect(
        isDecided ? ['ALREADY_DECIDED', 'APPROVAL_INVALID'] : ['APPROVAL_INVALID'],
        kind,
      ).toContain(outcome);
      expect(added).toEqual([]);
      return;
    }
    if (this.#model.decided.has(approval.question)) {
      // The same decision again changes nothing.
      expect(added).toEqual([]);
      return;
    }
    this.#model.decided.add(approval.question);
    const own = world.versions[where.process] ?? 0;
    if (decision.approved) {
      this.#model.allow(approval.question, {
        ...(amount !== undefined && { amount }),
        version: own,
      });
    }
    const asked = this.#model.asked.get(approval.question);
    expect(added).toHaveLength(decision.always === undefined ? 0 : 1);
    for (const { id, scope } of added) {
      // The grant is for what was asked, wherever it was decided.
      if (asked !== undefined) this.#model.grant(id, asked, scope);
    }
  }

  async #revoke(session: ToolSession, nth: number): Promise<void> {
    const grants = await session.grants();
    const grant = grants.at(nth % Math.max(1, grants.length));
    if (grant === undefined) return;
    expect(await session.revoke(grant.id)).toBe(true);
    expect((await session.grants()).map(({ id }) => id)).not.toContain(grant.id);
    this.#model.revoke(grant.id);
  }

  #note({ process, session, personality }: Where, approval: PendingApproval): void {
    this.#shown.push({ approval, session });
    if (this.#model.asked.has(approval.question)) return;
    const { toolCallId, toolName, args } = approval;
    this.#model.asked.set(approval.question, {
      toolCallId,
      tool: toolName === 'pay' ? 'pay' : 'send',
      amount: amountOf(args) ?? 0,
      version: world.versions[process] ?? 0,
      reach: this.#model.reachOf({ personality }),
      personality,
      sessionId: this.#id(session),
    });
  }

  #session({ process, session, personality }: Where): ToolSession {
    return world.session(process, this.#id(session), { personality, user: this.#user });
  }

  #id(session: string): string {
    return `${this.#user} ${session}`;
  }
}

function issued({ id, tool, amount }: Call) {
  return { toolCallId: id, name: tool, args: { amount } };
}

function amountOf(args: unknown): number | undefined {
  const { amount }: { amount?: unknown } = Object(args);
  return typeof amount === 'number' ? amount : undefined;
}

describe('two processes on one session, whatever they do', () => {
  fuzz(
    'run what somebody let run, once, and nothing else',
    fc.array(step, { minLength: 1, maxLength: 25 }),
    (steps) => new Attack().run(steps),
    { runs: { check: 40, long: 5_000 } },
  );
});
