import { isLongRun, tries } from '@ethosagent/test-support';
import { afterEach, describe, expect, it } from 'vitest';
import { type Asked, scriptedModel } from '../fixtures/scripted-model.js';
import { World } from '../fixtures/world.js';
import { counted, isForSummary, lookTool, tokensOf } from './fixtures/long-work.js';

const TURNS = tries({ check: 40, long: 300 });
const WINDOW = tries({ check: 5_000, long: 32_000 });

let world: World | undefined;
afterEach(() => {
  world?.close();
  world = undefined;
});

type Request = Parameters<typeof tokensOf>[0];

/** The cost of a session, for a cache that keeps the common start of two successive requests. */
function costOf(requests: readonly Request[]) {
  let breaks = 0;
  let fresh = 0;
  let read = 0;
  let largest = 0;
  let before: Request | undefined;
  for (const now of requests) {
    const shared = before === undefined ? 0 : sharedTokens(before, now);
    const tokens = tokensOf(now);
    const isStep = !isForSummary(now);
    if (isStep && before !== undefined && shared < tokensOf(before) * 0.99) breaks += 1;
    read += shared;
    fresh += tokens - shared;
    largest = Math.max(largest, tokens);
    // The request for a summary has the same start as the step before it, so that start stays in
    // the cache.
    if (isStep) before = now;
  }
  return { requests: requests.length, breaks, fresh, read, largest };
}

function sharedTokens(before: Request, now: Request): number {
  if (JSON.stringify(before.tools) !== JSON.stringify(now.tools)) return 0;
  let chars = JSON.stringify(now.tools ?? []).length;
  for (const [at, message] of before.prompt.entries()) {
    const text = JSON.stringify(message);
    if (text !== JSON.stringify(now.prompt[at])) break;
    chars += text.length + 1;
  }
  return Math.min(tokensOf(now), Math.ceil(chars / 4));
}

/** A session in which each turn looks something up and answers. */
async function run(context: { window: number } | false): Promise<Asked[]> {
  world?.close();
  world = new World({ tools: [lookTool()] });
  let looked = false;
  const model = scriptedModel((at, asked) => {
    if (isForSummary(asked)) return counted(asked, { text: 'What was looked up, in short.' });
    looked = !looked;
    return counted(
      asked,
      looked
        ? {
            calls: [
              {
                id: `c${at}`,
                name: 'look',
                args: { key: `${at}`, chars: 600 + ((at * 37) % 900) },
              },
            ],
          }
        : { text: `It says ${at}. ${'So it is. '.repeat(10)}` },
    );
  });
  const agent = world.loop(model, { context });
  for (let turn = 1; turn <= TURNS; turn++) {
    await agent.ask({ sessionId: 's', prompt: `Look up number ${turn}.` });
  }
  return model.doStreamCalls;
}

/** The same session, in which each request is cut to the limit. */
function trimmed(requests: readonly Asked[], limit: number): Request[] {
  return requests.map(({ prompt, tools }) => {
    const [system, ...rest] = prompt;
    let kept = rest;
    while (tokensOf({ prompt: withSystem(system, kept), tools }) > limit) {
      const next = kept.findIndex(({ role }, at) => at > 0 && role === 'user');
      if (next === -1) break;
      kept = kept.slice(next);
    }
    return { prompt: withSystem(system, kept), tools };
  });
}

function withSystem(system: Asked['prompt'][number] | undefined, rest: Asked['prompt']) {
  return system === undefined ? rest : [system, ...rest];
}

// A check has the few changes of `fit-context.test.ts`.
describe.runIf(isLongRun())(`a session of ${TURNS} turns`, () => {
  it('loses the cache seldom, beside one that is never cut and one that is cut each turn', async () => {
    const managed = await run({ window: WINDOW });
    const whole = await run(false);
    const limit = Math.floor(WINDOW * 0.8);
    const figures = {
      managed: costOf(managed),
      whole: costOf(whole),
      trimmed: costOf(trimmed(whole, limit)),
    };
    if (isLongRun()) console.log(JSON.stringify(figures, undefined, 1));
    // Without cutting, the cache holds until the model accepts no more.
    expect(figures.whole.breaks).toBe(0);
    expect(figures.whole.largest).toBeGreaterThan(WINDOW);
    expect(figures.managed.largest).toBeLessThan(WINDOW);
    expect(figures.trimmed.largest).toBeLessThan(WINDOW);
    expect(figures.managed.breaks).toBeGreaterThan(0);
    expect(figures.managed.breaks * 4).toBeLessThan(figures.trimmed.breaks);
    expect(figures.managed.fresh * 2).toBeLessThan(figures.trimmed.fresh);
  });
});
