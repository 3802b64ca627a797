import { createHash } from 'node:crypto';
import { inCheck } from '@ethosagent/test-support';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { AgentEvent, AgentLoopOptions } from '../api.js';
import { type Asked, type ScriptedStep, scriptedModel } from '../fixtures/scripted-model.js';
import { expectWellFormed } from '../fixtures/well-formed.js';
import { doneOf, eventsOf, ofType, World } from '../fixtures/world.js';
import { readLog } from '../journal/journal.js';
import { parseRecord } from '../journal/records.js';
import { SessionLog } from '../journal/session-log.js';
import { modelMessages } from '../model/messages.js';
import { placeOf } from './apply-context.js';
import { counted, growsAtItsEnd, isForSummary, lookTool, textsOf } from './fixtures/long-work.js';

const CONTEXT = { window: 4_000, reserve: 500 };
const SUMMARY = 'I looked at many things.';

let world: World;
/** The world of some tests that only read what was done in it. */
let shared: World | undefined;
afterEach(() => {
  if (world !== shared) world.close();
});

type Answers = (at: number, asked: Asked) => ScriptedStep | undefined;

/** Runs turns. The model answers each step as the test says, and its requests are kept. */
async function work(
  prompts: readonly string[],
  answers: Answers,
  options: Partial<AgentLoopOptions> & { world?: World } = {},
): Promise<{ asked: Asked[]; events: AgentEvent[] }> {
  const { world: given, ...loop } = options;
  world = given ?? new World({ tools: [lookTool(), lookTool('page', { isUntrusted: true })] });
  let steps = 0;
  const model = scriptedModel((_, asked) =>
    counted(
      asked,
      isForSummary(asked) ? { text: SUMMARY } : (answers(steps++, asked) ?? { text: 'done' }),
    ),
  );
  const agent = world.loop(model, { context: CONTEXT, ...loop });
  const events: AgentEvent[] = [];
  for (const prompt of prompts) {
    events.push(...(await eventsOf(agent.run({ sessionId: 's', prompt }))));
  }
  await expectWellFormed(world);
  return { asked: model.doStreamCalls, events };
}

const look = (key: string | number, chars: number, name = 'look'): ScriptedStep => ({
  calls: [{ id: `id-${key}`, name, args: { key: `${key}`, chars } }],
});
const looks =
  (count: number, chars: number, name?: string): Answers =>
  (at) =>
    at < count ? look(at, chars, name) : undefined;
const toolTexts = (asked: Asked | undefined) =>
  asked === undefined
    ? []
    : textsOf(asked).flatMap(({ role, text }) => (role === 'tool' ? [text] : []));

describe('a history below its share of the window', () => {
  it('only grows at its end', async () => {
    const { asked, events } = await work(['Look.', 'Again.'], (at) =>
      at === 4 ? { text: 'So far.' } : at < 7 ? look(at, 500) : undefined,
    );
    expect(asked).toHaveLength(8);
    for (const [at, now] of asked.entries()) {
      const before = asked[at - 1];
      if (before !== undefined) expect(growsAtItsEnd(before, now)).toBe(true);
    }
    expect(ofType(events, 'context')).toEqual([]);
    expect(asked.at(-1)?.tools?.map(({ name }) => name)).not.toContain('read_result');
  });
});

describe('results at the share of the window', () => {
  it('are cleared, the old ones alone, and can be read back', async () => {
    const { asked, events } = await work(['Look.'], (at, now) => {
      if (at < 6) return look(at, 2_400);
      const isCleared = toolTexts(now)[0]?.includes('read_result') === true;
      if (at === 6 && isCleared)
        return { calls: [{ id: 'r', name: 'read_result', args: { id: 'id-0', offset: 1_000 } }] };
      return undefined;
    });
    const [change, ...more] = ofType(events, 'context');
    expect(more).toEqual([]);
    expect(change).toMatchObject({ summarised: false });
    expect(change?.tokensAfter).toBeLessThan((change?.tokensBefore ?? 0) / 1.5);
    const texts = toolTexts(asked.at(-1));
    expect(texts.slice(0, change?.cleared)).toEqual(
      Array.from(
        { length: change?.cleared ?? 0 },
        (_, at) => `[cleared; read_result("id-${at}") shows it]`,
      ),
    );
    expect(texts.at(-1)).toBe(`${'x'.repeat(1_400)} end of 0\n[characters 1000 to 2409 of 2409]`);
    expect(asked.at(-1)?.tools?.at(-1)).toMatchObject({ name: 'read_result' });
    // The journal still has the whole text.
    const stored = (await world.sessions.messages('s')).filter(({ role }) => role === 'tool');
    expect(stored[0]?.text).toHaveLength(2_409);
  });

  it('are cleared in few changes, between which the history only grows', async () => {
    const { asked, events } = await work(['Look.'], looks(14, 2_000));
    const breaks = asked.filter((now, at) => {
      const before = asked[at - 1];
      return before !== undefined && !growsAtItsEnd(before, now);
    });
    expect(breaks).toHaveLength(ofType(events, 'context').length);
    expect(breaks.length).toBeGreaterThan(1);
    expect(breaks.length).toBeLessThan(5);
  });

  it('are read back page by page, marked as before where they are untrusted', async () => {
    const { asked } = await work(['Look.'], (at) => {
      if (at < 6) return look(at, 2_400, 'page');
      const offset = (at - 6) * 1_600;
      if (at < 8)
        return { calls: [{ id: `r${at}`, name: 'read_result', args: { id: 'id-0', offset } }] };
      return undefined;
    });
    const [first, second] = toolTexts(asked.at(-1)).slice(-2);
    expect(first).toBe(
      `<untrusted source="page" tool="page">\n${'x'.repeat(1_600)}\n</untrusted>\n[characters 0 to 1600 of 2409; offset 1600 goes on]`,
    );
    expect(second).toMatch(
      /^<untrusted source="page" tool="page">\nx{800} end of 0\n<\/untrusted>/,
    );
  });

  const wrong: [string, unknown, RegExp][] = [
    ['a call that was never made', { id: 'nobody' }, /no result of a call "nobody"/],
    ['a call of another session', { id: 'other' }, /no result of a call "other"/],
    ['no id', {}, /give the id/],
    ['half a character', { id: 'id-0', offset: 0.5 }, /give the id/],
    ['before the beginning', { id: 'id-0', offset: -1 }, /give the id/],
    ['behind the end', { id: 'id-0', offset: 9_999 }, /give a smaller offset/],
  ];
  const standing = ['a call of another session', 'behind the end'];
  it.each(inCheck(wrong, ([what]) => standing.includes(what)))(
    'are not read back of %s',
    async (_name, args, error) => {
      world = new World({ tools: [lookTool()] });
      const other = { calls: [{ id: 'other', name: 'look', args: { key: 'secret', chars: 900 } }] };
      await world.loop([other]).ask({ sessionId: 'elsewhere', prompt: 'Look.' });
      const { asked } = await work(
        ['Look.'],
        (at) =>
          at < 6
            ? look(at, 2_400)
            : at === 6
              ? { calls: [{ id: 'r', name: 'read_result', args }] }
              : undefined,
        { world },
      );
      expect(toolTexts(asked.at(-1)).at(-1)).toMatch(error);
      expect(JSON.stringify(asked.at(-1)?.prompt)).not.toContain('end of secret');
    },
  );

  it('are read by no tool as long as nothing was cleared', async () => {
    const { asked } = await work(['Look.'], (at) =>
      at === 0 ? { calls: [{ name: 'read_result', args: { id: 'id-0' } }] } : undefined,
    );
    expect(toolTexts(asked.at(-1))[0]).toMatch(/^not_available/);
  });

  it('are not cleared where the agent has a tool of that name', async () => {
    world = new World({ tools: [lookTool(), lookTool('read_result')] });
    const { events } = await work(['Look.'], looks(6, 2_400), { world });
    expect(doneOf(events)).toMatchObject({ end: 'failed', error: { code: 'CONFIG_INVALID' } });
  });

  it('count for the limits of the turn when they are read back', async () => {
    const { events } = await work(
      ['Look.'],
      (at) =>
        at < 6 ? look(at, 2_400) : { calls: [{ name: 'read_result', args: { id: 'id-0' } }] },
      { limits: { maxIdenticalCalls: 3 } },
    );
    expect(doneOf(events)).toMatchObject({ end: 'identical_calls', calls: 10 });
  });
});

describe('a summary', () => {
  const many = Array.from({ length: 15 }, (_, at) => `Question ${at}: ${'why? '.repeat(40)}`);
  const chat: Answers = (at) => ({ text: `Answer ${at}. ${'because '.repeat(120)}` });
  let chatted: Awaited<ReturnType<typeof work>>;
  beforeAll(async () => {
    chatted = await work(many, chat);
    shared = world;
  });
  afterAll(() => shared?.close());
  /** What was asked, and what happened, in a conversation that was summed up. */
  function conversation() {
    world = shared ?? expect.fail('it was not held');
    return chatted;
  }

  it('is made with the same system prompt and tools, and takes the place of what is oldest', async () => {
    const { asked, events } = conversation();
    const at = asked.findIndex(isForSummary);
    const [before, request, after] = [asked[at - 1], asked[at], asked[at + 1]];
    if (before === undefined || request === undefined || after === undefined)
      throw new Error('none');
    // The part that was sent before, without what stays, and one more message.
    const sent = before.prompt.slice(0, request.prompt.length - 1);
    expect(JSON.stringify(request.prompt.slice(0, -1))).toBe(JSON.stringify(sent));
    expect(request.tools).toEqual(before.tools);
    expect(request.toolChoice).toEqual(before.toolChoice);
    const [, head] = textsOf(after);
    expect(head?.text).toContain(SUMMARY);
    expect(head?.text).not.toContain('because');
    expect(ofType(events, 'context')[0]).toMatchObject({ summarised: true });
    // Every text of the user.
    const last = textsOf(asked.at(-1) ?? after)
      .filter(({ role }) => role === 'user')
      .map(({ text }) => text)
      .join('\n');
    const missing = many.filter((prompt) => !last.includes(prompt));
    expect(missing).toEqual([]);
  });

  it('says up to where, what of, and what it used', async () => {
    conversation();
    const messages = await world.sessions.messages('s');
    const at = messages.findIndex(({ data }) => Object(data).kind === 'context');
    const record = Object(messages[at]?.data);
    expect(record).toMatchObject({
      cleared: [],
      summary: { text: SUMMARY, usage: { outputTokens: 20 } },
    });
    // The digest is of the messages that the journal has up to that point.
    const log = await readLog(
      {
        ...world.sessions,
        messages: async (_, { afterSequence = 0 } = {}) => messages.slice(afterSequence, at),
      },
      's',
    );
    // Nothing that was summed up stays in the history beside the summary.
    const after = new SessionLog();
    for (const { data, sequence } of messages.slice(0, at + 1)) {
      const read = parseRecord(data);
      if (read !== undefined) after.apply(read, sequence);
    }
    const [head, next] = after.entries;
    expect(head).toHaveProperty('prompts');
    expect(next === undefined ? undefined : placeOf(next).turn).toBe(record.summary.upTo.turn + 1);
    const { turn } = record.summary.upTo;
    const upTo = log.entries.filter(
      (entry) => ('record' in entry ? entry.record : Object(entry)).turn <= turn,
    );
    const bytes = JSON.stringify(modelMessages(upTo, { images: false }));
    expect(record.summary.digest).toBe(createHash('sha256').update(bytes).digest('base64url'));
  });

  it('is asked for again, without calls, of a model that calls a tool instead', async () => {
    world = new World({ tools: [lookTool()] });
    let forced = 0;
    const model = scriptedModel((_, asked) => {
      if (!isForSummary(asked)) return counted(asked, chat(0, asked) ?? {});
      if (asked.toolChoice?.type !== 'none') return counted(asked, look('no', 10));
      forced += 1;
      return counted(asked, { text: SUMMARY });
    });
    const agent = world.loop(model, { context: CONTEXT });
    for (const prompt of many.slice(0, 11)) await agent.ask({ sessionId: 's', prompt });
    expect(forced).toBeGreaterThan(0);
    expect(world.ran).toEqual([]);
    expect(JSON.stringify(model.doStreamCalls.at(-1)?.prompt)).toContain(SUMMARY);
  });

  it('counts for the turn also when the model writes none', async () => {
    world = new World({ tools: [lookTool()] });
    const model = scriptedModel((_, asked) =>
      counted(asked, isForSummary(asked) ? look('no', 10) : (chat(0, asked) ?? {})),
    );
    const agent = world.loop(model, { context: CONTEXT });
    let done = await agent.ask({ sessionId: 's', prompt: 'Begin.' });
    for (const prompt of many) {
      if (done.end !== 'failed') done = await agent.ask({ sessionId: 's', prompt });
    }
    expect(done.error?.message).toContain('it wrote no summary');
    expect(done.usage.inputTokens).toBeGreaterThan(CONTEXT.window / 2);
    const again = doneOf(await eventsOf(agent.resume({ sessionId: 's' })));
    expect(again.usage.inputTokens).toBe(2 * done.usage.inputTokens);
  });

  it('is made in parts where it would not fit', async () => {
    world = new World({ tools: [lookTool()] });
    const large = { context: { window: 100_000 } };
    await work(many, chat, { world, ...large });
    const { asked, events } = await work(['And now?'], chat, { world });
    const requests = asked.filter(isForSummary);
    expect(requests.length).toBeGreaterThan(1);
    for (const request of requests)
      expect(JSON.stringify(request.prompt).length / 4).toBeLessThan(3_700);
    expect(JSON.stringify(requests[1]?.prompt)).toContain(SUMMARY);
    expect(doneOf(events).end).toBe('answered');
  });

  it('is not made where the host says so: the turn ends as context_full, and says what to do', async () => {
    const { events, asked } = await work(many, chat, { context: { ...CONTEXT, summarise: false } });
    expect(asked.filter(isForSummary)).toEqual([]);
    const full = ofType(events, 'done').find(({ end }) => end === 'context_full');
    expect(full?.message).toMatch(/new session.*larger model.*context\.window/s);
    expect(await world.loop([]).state('s')).toBe('idle');
  });

  it('drops no word of the user: what does not fit with them ends as context_full', async () => {
    const { events, asked } = await work([`Read this: ${'word '.repeat(4_000)}`], () => undefined);
    expect(asked).toEqual([]);
    expect(doneOf(events)).toMatchObject({ end: 'context_full', steps: 0 });
    const { events: later } = await work(['Hello?'], () => undefined, {
      world,
      context: { window: 20_000 },
    });
    expect(doneOf(later)).toMatchObject({ end: 'answered', turn: 2 });
  });

  it('counts for the turn that needs it', async () => {
    const { events } = conversation();
    const at = events.findIndex(({ type }) => type === 'context');
    const usage = events.slice(at).find((event) => event.type === 'usage');
    if (usage?.type !== 'usage') throw new Error('none');
    expect(usage.turn.outputTokens).toBe(40);
    expect(usage.turn.inputTokens).toBeGreaterThan(usage.step.inputTokens);
  });
});

describe('the last result', () => {
  it('is cleared where it alone does not fit, and is read in pages', async () => {
    const { asked, events } = await work(['Look.'], (at) => {
      if (at === 0) return look(0, 40_000);
      return at === 1
        ? { calls: [{ id: 'r', name: 'read_result', args: { id: 'id-0', offset: 39_000 } }] }
        : undefined;
    });
    expect(doneOf(events).end).toBe('answered');
    expect(toolTexts(asked.at(-1))).toEqual([
      '[cleared; read_result("id-0") shows it]',
      `${'x'.repeat(1_000)} end of 0\n[characters 39000 to 40009 of 40009]`,
    ]);
  });
});
