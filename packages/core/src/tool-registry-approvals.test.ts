import type { AnyTool, FailureCause, ToolResult } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import type { ApprovalDecision, ApprovalRequest } from './approval.js';
import { batchContext, makeTool, ok, runOne, untyped } from './testing/batch.js';
import { DefaultToolRegistry } from './tool-registry.js';

const NOT_RUN = 'so it did not run; go on without it, and tell the user';

function approvals(
  approve: ((request: ApprovalRequest) => unknown) | undefined,
  rest: Partial<AnyTool> = {},
) {
  const ran: unknown[] = [];
  const registry = new DefaultToolRegistry(approve && { approve: untyped(approve) });
  registry.register(
    makeTool(
      'pay',
      (args) => {
        ran.push(args);
        return ok('paid');
      },
      { requiresApproval: true, ...rest },
    ),
  );
  registry.register(makeTool('free'));
  return { registry, ran };
}

const refused = (why: string, cause: FailureCause = 'NOT_APPROVED'): ToolResult => ({
  ok: false,
  code: 'not_available',
  error: `pay needs approval, and ${why}`,
  cause,
});

const noDecision = (what: string) =>
  refused(
    `the decision does not count: ${what}; give { approved: true } or { approved: false }, ${NOT_RUN}`,
  );

describe('DefaultToolRegistry approvals', () => {
  it.each<[string, ((request: ApprovalRequest) => unknown) | undefined, ToolResult]>([
    ['no callback', undefined, refused(`no approval callback is configured, ${NOT_RUN}`)],
    ['false', () => false, refused('it was refused')],
    ['a promise of false', async () => false, refused('it was refused')],
    [
      'a refusal with a reason',
      () => ({ approved: false, reason: 'too much' }),
      refused('it was refused: too much'),
    ],
    ['undefined', () => undefined, noDecision('it is undefined, as after a forgotten `return`')],
    ['"true"', () => 'true', noDecision('it is of type string')],
    ['1', () => 1, noDecision('it is of type number')],
    [
      'approved: "yes"',
      () => ({ approved: 'yes' }),
      noDecision('`approved` is neither true nor false'),
    ],
    [
      'a throw',
      () => {
        throw new Error('the host’s secret state');
      },
      refused(`the approval callback failed, ${NOT_RUN}`),
    ],
    [
      'a rejection with null',
      () => Promise.reject(null),
      refused(`the approval callback failed, ${NOT_RUN}`),
    ],
    [
      'approved with a misspelt key',
      () => Object({ approved: true, arguments: { amount: 0 } }),
      refused(
        `the decision does not count: there is no option "arguments"; there are approved, reason, args, always, by, grant, edited, askedAt, waits, ${NOT_RUN}`,
      ),
    ],
    ['true', () => true, ok('paid')],
    [
      'a promise of approved',
      async (): Promise<ApprovalDecision> => ({ approved: true }),
      ok('paid'),
    ],
  ])('answers %s', async (_name, approve, expected) => {
    const { registry, ran } = approvals(approve);
    expect(await runOne(registry, 'pay', { amount: 1 })).toEqual(expected);
    expect(ran).toEqual(expected.ok ? [{ amount: 1 }] : []);
  });

  it('shows the call, what it could reach and why it is asked', async () => {
    const requests: ApprovalRequest[] = [];
    const { registry } = approvals((request) => requests.push(request) > 0, {
      capabilities: { secrets: ['a/b'], process: { allowedBinaries: ['git'] } },
    });
    await runOne(registry, 'pay', { amount: 1 }, { personalityId: 'bookkeeper' });
    expect(requests).toEqual([
      {
        toolCallId: 'call-1',
        toolName: 'pay',
        args: { amount: 1 },
        capabilities: { secrets: ['a/b'], process: { allowedBinaries: ['git'] } },
        reason: 'the tool always requires approval',
        workingDir: '/project',
        sessionId: 'session-1',
        personalityId: 'bookkeeper',
        signal: expect.any(AbortSignal),
      },
    ]);
  });

  it('shows a frozen copy of the very arguments that run', async () => {
    const { registry, ran } = approvals(({ args }) => {
      expect(() => Object.assign(Object(args).to, { iban: 'mine' })).toThrow(TypeError);
      expect(() => Object.assign(Object(args), { amount: 9 })).toThrow(TypeError);
      return true;
    });
    const args = { amount: 1, to: { iban: 'theirs' } };
    const pending = runOne(registry, 'pay', args);
    args.amount = 1000;
    args.to.iban = 'mine';
    expect(await pending).toEqual(ok('paid'));
    expect(ran).toEqual([{ amount: 1, to: { iban: 'theirs' } }]);
  });

  const input = {
    parse: (args: unknown) => ({
      ok: true as const,
      args: { amount: Number(Object(args).amount) },
    }),
    run: async () => ok('paid'),
  };

  it.each<[string, AnyTool['requiresApproval'], number, string[]]>([
    ['not needed', (args) => args.amount > 10, 5, []],
    ['needed', (args) => args.amount > 10, 50, ['the tool requires approval for these arguments']],
    [
      'by a function that throws',
      () => {
        throw new Error('bug');
      },
      5,
      ['the tool could not decide whether it requires approval (bug)'],
    ],
    [
      'by a function that returns undefined',
      untyped(() => undefined),
      5,
      ['the tool requires approval for these arguments'],
    ],
    ['by an async function that says false', async () => false, 5, []],
    [
      'by an async function that rejects',
      async () => Promise.reject(new Error('bug')),
      5,
      ['the tool could not decide whether it requires approval (bug)'],
    ],
    ['by false', false, 50, []],
  ])('is decided on parsed arguments: %s', async (_name, requiresApproval, amount, reasons) => {
    const asked: ApprovalRequest[] = [];
    const { registry } = approvals((request) => asked.push(request) > 0, {
      input,
      ...(requiresApproval !== undefined && { requiresApproval }),
    });
    expect(await runOne(registry, 'pay', { amount: String(amount) })).toEqual(ok('paid'));
    expect(asked.map(({ reason }) => reason)).toEqual(reasons);
    expect(asked.map(({ args }) => args)).toEqual(reasons.map(() => ({ amount })));
  });

  it('shows the issued arguments where a schema makes class instances of them', async () => {
    const asked: ApprovalRequest[] = [];
    const { registry } = approvals((request) => asked.push(request) > 0, {
      input: {
        parse: (args) => ({ ok: true, args: { url: new URL(String(Object(args).url)) } }),
        run: async ({ url }) => ok(url.host),
      },
    });
    expect(await runOne(registry, 'pay', { url: 'https://a.example/x' })).toEqual(ok('a.example'));
    expect(asked[0]?.args).toEqual({ url: 'https://a.example/x' });
  });

  it('is not asked for arguments that fail validation', async () => {
    const { registry, ran } = approvals(() => true, {
      input: { parse: () => ({ ok: false, error: 'amount is missing' }), run: async () => ok('') },
    });
    expect(await runOne(registry, 'pay')).toEqual({
      ok: false,
      code: 'input_invalid',
      error: 'amount is missing',
      cause: 'INPUT_INVALID',
    });
    expect(ran).toEqual([]);
  });

  it('an abort while it waits refuses, and tells the callback', async () => {
    const controller = new AbortController();
    let signal: AbortSignal | undefined;
    const { registry, ran } = approvals((request) => {
      signal = request.signal;
      return new Promise(() => {});
    });
    const pending = runOne(registry, 'pay', {}, { abortSignal: controller.signal });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(signal?.aborted).toBe(false);
    controller.abort(new Error('the user left'));
    const why =
      'the turn was aborted while it waited, so it did not run; call it again only if it is still wanted';
    expect(await pending).toEqual(refused(why, 'CALL_ABORTED'));
    expect(signal?.reason).toEqual(new Error('the user left'));
    expect(ran).toEqual([]);
  });

  it('one that waits takes no place from the others, and holds none of them up', async () => {
    const finished: string[] = [];
    let decide: (decision: boolean) => void = () => {};
    const registry = new DefaultToolRegistry(
      {
        approve: () =>
          new Promise((resolve) => {
            decide = resolve;
          }),
      },
      undefined,
      { maxConcurrency: 1 },
    );
    const run = (name: string) => () => {
      finished.push(name);
      if (name === 'free-2') decide(true);
      return ok(name);
    };
    registry.registerAll([
      makeTool('pay', run('pay'), { requiresApproval: true }),
      makeTool('free-1', run('free-1')),
      makeTool('free-2', run('free-2')),
    ]);
    const results = await registry.executeParallel(
      ['pay', 'free-1', 'free-2'].map((name) => ({ toolCallId: name, name, args: {} })),
      batchContext(),
    );
    expect(finished).toEqual(['free-1', 'free-2', 'pay']);
    expect(results.map(({ toolCallId }) => toolCallId)).toEqual(['pay', 'free-1', 'free-2']);
  });
});
