import { withEnoughTime } from '@ethosagent/test-support';
import { errorCodeOf } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentLoopOptions, TurnEnd } from './api.js';
import type { ScriptedStep } from './fixtures/scripted-model.js';
import { expectWellFormed } from './fixtures/well-formed.js';
import { doneOf, eventsOf, ofType, World } from './fixtures/world.js';

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.close());

const PRICES = { input: 1_000_000, output: 0 };
const echo = (...texts: string[]): ScriptedStep => ({
  calls: texts.map((text) => ({ name: 'echo', args: { text } })),
});
const endless = (step: number) => echo(`${step}`);

interface Row {
  name: string;
  end: TurnEnd;
  options: Partial<AgentLoopOptions>;
  script: (step: number) => ScriptedStep;
  steps: number;
  ran: number;
  message: string;
}

const LIMITS: Row[] = [
  {
    name: 'maxSteps 3',
    end: 'max_steps',
    options: { limits: { maxSteps: 3 } },
    script: endless,
    steps: 3,
    ran: 3,
    message: 'The turn ended at its limit of 3 steps (limits.maxSteps); a new turn can go on.',
  },
  {
    name: 'maxCalls 5, two in a step',
    end: 'max_calls',
    options: { limits: { maxCalls: 5 } },
    script: (step) => echo(`${step}a`, `${step}b`),
    steps: 3,
    ran: 5,
    message: 'The turn ended at its limit of 5 calls (limits.maxCalls); a new turn can go on.',
  },
  {
    name: 'maxIdenticalCalls 2, over steps',
    end: 'identical_calls',
    options: { limits: { maxIdenticalCalls: 2 } },
    script: () => echo('same'),
    steps: 3,
    ran: 2,
    message:
      'The turn ended because the model called echo 3 times in a row with the same arguments (limits.maxIdenticalCalls); a new turn can go on with other arguments.',
  },
  {
    name: 'maxIdenticalCalls 2, in one step',
    end: 'identical_calls',
    options: { limits: { maxIdenticalCalls: 2 } },
    script: () => echo('same', 'same', 'same', 'other'),
    steps: 1,
    ran: 3,
    message:
      'The turn ended because the model called echo 3 times in a row with the same arguments (limits.maxIdenticalCalls); a new turn can go on with other arguments.',
  },
  {
    name: 'maxTokens 40, at 15 a step',
    end: 'max_tokens',
    options: { limits: { maxTokens: 40 } },
    script: endless,
    steps: 3,
    ran: 2,
    message: 'The turn ended at its limit of 40 tokens (limits.maxTokens); a new turn can go on.',
  },
  {
    name: 'maxTokens, estimated where the provider does not count',
    end: 'max_tokens',
    options: { limits: { maxTokens: 100 } },
    script: (step) => ({ ...endless(step), usage: null }),
    steps: 1,
    ran: 0,
    message: 'The turn ended at its limit of 100 tokens (limits.maxTokens); a new turn can go on.',
  },
  {
    name: 'maxCostUsd 25, at 10 a step',
    end: 'max_cost',
    options: { limits: { maxCostUsd: 25 }, prices: PRICES },
    script: endless,
    steps: 3,
    ran: 2,
    message:
      'The turn ended at its limit of 25 US dollars (limits.maxCostUsd); a new turn can go on.',
  },
  {
    name: 'maxCostUsd 0.9, of tools',
    end: 'max_cost',
    options: { limits: { maxCostUsd: 0.9 }, prices: { input: 0, output: 0 }, approve: () => true },
    script: (step) => ({ calls: [{ name: 'pay', args: { amount: step } }] }),
    steps: 2,
    ran: 2,
    message:
      'The turn ended at its limit of 0.9 US dollars (limits.maxCostUsd); a new turn can go on.',
  },
];

describe('a limit of a turn', () => {
  it.each(LIMITS)('$name ends it', async ({ end, options, script, steps, ran, message }) => {
    const loop = world.loop(script, options);
    const events = await eventsOf(loop.run({ sessionId: 's', prompt: 'Go' }));
    expect(doneOf(events)).toMatchObject({ end, steps, message, approvals: [] });
    expect(world.ran).toHaveLength(ran);
    await expectWellFormed(world);
    expect(await loop.state('s')).toBe('idle');
    const next = world.loop([{ text: 'on' }], options);
    expect(doneOf(await eventsOf(next.run({ sessionId: 's', prompt: 'Go on' })))).toMatchObject({
      end: 'answered',
      turn: 2,
      text: 'on',
    });
  });

  it('maxMs ends it, and what runs', async () => {
    let begun = 0;
    let aborted = 0;
    world.registry.register({
      name: 'hang',
      description: 'Hangs.',
      schema: {},
      capabilities: {},
      execute: (_args, { abortSignal }) =>
        new Promise((resolve) => {
          begun += 1;
          abortSignal.addEventListener('abort', () => {
            aborted += 1;
            resolve({ ok: false, code: 'execution_failed', error: 'aborted' });
          });
        }),
    });
    const calls = [{ name: 'hang' }, { name: 'echo', args: { text: 'a' } }];
    // On a busy machine, it may take longer until the call begins.
    const { maxMs, events } = await withEnoughTime(
      async (maxMs) => {
        const loop = world.loop([{ calls }], { limits: { maxMs } });
        const sessionId = `s${maxMs}`;
        return { maxMs, events: await eventsOf(loop.run({ sessionId, prompt: 'Go' })) };
      },
      () => begun > 0,
    );
    expect(doneOf(events)).toMatchObject({
      end: 'max_time',
      message: `The turn ended at its limit of ${maxMs / 1_000} seconds (limits.maxMs); a new turn can go on.`,
    });
    expect(aborted).toBe(begun);
    await expectWellFormed(world, `s${maxMs}`);
  });

  it('of calls counts anew in the next turn', async () => {
    const options = { limits: { maxCalls: 1, maxIdenticalCalls: 1 } };
    for (const turn of [1, 2, 3]) {
      const loop = world.loop([echo('same'), { text: 'ok' }], options);
      const events = await eventsOf(loop.run({ sessionId: 's', prompt: 'Go' }));
      expect(doneOf(events)).toMatchObject({ end: 'answered', turn });
    }
    expect(world.ran).toHaveLength(3);
  });

  it.each<[Partial<AgentLoopOptions>]>([
    [{ limits: { maxSteps: 0 } }],
    [{ limits: { maxCalls: Number.NaN } }],
    [{ limits: { maxMs: -1 } }],
    [{ limits: { graceMs: 0 } }],
    [{ limits: { maxTokens: 0 } }],
    [{ limits: { maxCostUsd: 1 } }],
    [{ limits: { resultBudgetChars: 0 } }],
    [{ retries: { maxRetries: -1 } }],
    [{ retries: { firstDelayMs: Number.NaN } }],
  ])('%j is refused', (options) => {
    let code: unknown;
    try {
      world.loop([], options);
    } catch (error) {
      code = errorCodeOf(error);
    }
    expect(code).toBe('CONFIG_INVALID');
  });

  it('says of each call of the step that did not run why', async () => {
    const loop = world.loop(() => echo('a', 'b'), { limits: { maxCalls: 1 } });
    const events = await eventsOf(loop.run({ sessionId: 's', prompt: 'Go' }));
    expect(ofType(events, 'tool_end').map(({ result }) => result)).toEqual([
      {
        ok: false,
        code: 'not_available',
        error:
          'the call did not run: The turn ended at its limit of 1 calls (limits.maxCalls); a new turn can go on.',
        cause: 'TURN_LIMIT',
      },
      { ok: true, value: 'echo: a' },
    ]);
  });
});
