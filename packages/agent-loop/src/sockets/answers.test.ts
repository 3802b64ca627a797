import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { inCheck, tries } from '@ethosagent/test-support';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type AgentWorld,
  createAgentWorld,
  doneOf,
  eventsOf,
  only,
  shownText,
  type WorldOptions,
} from './fixtures/agent-world.js';
import { answer, calls, type ScriptedAnswer, says } from './fixtures/answers.js';
import { textOf, toolMessages } from './fixtures/chat-request.js';

let world: AgentWorld;
afterEach(async () => {
  expect(world.server.problems).toEqual([]);
  await world.close();
});

async function turn(script: WorldOptions['script'], more: Omit<WorldOptions, 'script'> = {}) {
  world = await createAgentWorld({ script, ...more });
  return eventsOf(world.loop.run({ sessionId: 's', prompt: 'Go.' }));
}

/** What the model was told about its calls in the next request. */
function told(request = 1) {
  const asked = world.server.requests[request];
  if (asked === undefined) throw new Error(`there was no request ${request}`);
  return toolMessages(asked);
}

const SPOKEN = 'Grüße, 日本 👩‍🚀: “ok” \u0000 </untrusted>\r\ndata: {"x":1}\n\n[DONE]';

describe('an answer over a socket', () => {
  it.each(inCheck([1, 2, 3, 5, 64, 10_000], (pieces) => pieces === 3))(
    'in pieces of %i bytes is read whole',
    async (pieces) => {
      const events = await turn([
        answer({ text: SPOKEN, pieces, delta: tries({ check: 15, long: 3 }) }),
      ]);
      expect(shownText(events)).toBe(SPOKEN);
      expect(doneOf(events)).toMatchObject({ end: 'answered', text: SPOKEN, steps: 1, calls: 0 });
    },
  );

  it('shows the text while it comes', async () => {
    const events = await turn([
      answer({ text: 'one two three', delta: 4, pauseMs: 5, pieces: 200 }),
    ]);
    expect(only(events, 'text').length).toBeGreaterThan(1);
  });

  it('shows reasoning apart from the text', async () => {
    const events = await turn([answer({ reasoning: 'Hm, well.', text: 'Yes.' })]);
    expect(
      only(events, 'reasoning')
        .map(({ text }) => text)
        .join(''),
    ).toBe('Hm, well.');
    expect(doneOf(events).text).toBe('Yes.');
  });

  it('adds up what the server says of usage', async () => {
    const usage = { prompt_tokens: 1_000, completion_tokens: 50 };
    const events = await turn(
      [
        answer({ calls: [{ name: 'add', args: { a: 1, b: 2 } }], usage }),
        answer({ text: 'x', usage }),
      ],
      { loop: { prices: { input: 2, output: 10 } } },
    );
    expect(doneOf(events).usage).toMatchObject({ inputTokens: 2_000, outputTokens: 100 });
    expect(doneOf(events).usage.costUsd).toBeCloseTo(0.005);
    expect(only(events, 'usage')).toHaveLength(2);
  });

  it.each<[string, ScriptedAnswer]>([
    ['no usage at all', { text: 'x', usage: null }],
    ['usage of zero', { text: 'x', usage: { prompt_tokens: 0, completion_tokens: 0 } }],
  ])('with %s is an answer', async (_, scripted) => {
    expect(doneOf(await turn([answer(scripted)]))).toMatchObject({ end: 'answered', text: 'x' });
  });

  it.each<[string, string]>([
    ['a lone surrogate', 'a\ud83db'],
    ['NUL', 'a\0b'],
    ['many characters that need escapes', '\0'.repeat(tries({ check: 50_000, long: 1_000_000 }))],
    ['nothing but spaces around it', '  \n x \n '],
  ])('with %s is stored, and sent back in the next turn', async (_, text) => {
    // The whole text fits into the context, so nothing is summed up.
    const loop = { context: { window: 10_000_000 } };
    await turn([answer({ text, delta: 50_000 }), says('And?')], { loop });
    expect(await world.loop.state('s')).toBe('idle');
    const events = await eventsOf(world.anotherLoop().run({ sessionId: 's', prompt: 'Go on.' }));
    expect(doneOf(events)).toMatchObject({ end: 'answered', text: 'And?' });
    const [said = { role: 'system' }] = (world.server.requests[1]?.messages ?? []).slice(2);
    expect(textOf(said)).toBe(text.toWellFormed());
  });

  it.each<[string, { prompt_tokens: number; completion_tokens: number } | null]>([
    ['says nothing of usage', null],
    ['says that it used nothing', { prompt_tokens: 0, completion_tokens: 0 }],
    ['says that it gave tokens back', { prompt_tokens: -1e9, completion_tokens: -1e9 }],
    ['says that it used more than there are', { prompt_tokens: 1e300, completion_tokens: 1e300 }],
  ])('of a server that %s is over at the limit of tokens, or of steps', async (_, usage) => {
    const maxTokens = tries({ check: 3_000, long: 20_000 });
    const maxSteps = tries({ check: 8, long: 30 });
    let at = 0;
    const events = await turn(
      () => answer({ calls: [{ name: 'add', args: { a: at++, b: 1 } }], usage }),
      { loop: { limits: { maxTokens, maxSteps } } },
    );
    const done = doneOf(events);
    expect(['max_tokens', 'max_steps']).toContain(done.end);
    for (const used of Object.values(done.usage)) expect(used).toBeGreaterThanOrEqual(0);
    if (usage === null) expect(done.usage.inputTokens).toBeGreaterThan(1_000);
  });

  it('that ends by its length is shown, and says so', async () => {
    const done = doneOf(await turn([answer({ text: 'Half of', finish: 'length' })]));
    expect(done).toMatchObject({ end: 'answered', text: 'Half of' });
    expect(done.message).toMatch(/cut off/);
  });

  it('that a content filter stopped is none, and is not asked for again by itself', async () => {
    const events = await turn([answer({ text: 'Half of', finish: 'content_filter' })]);
    const [failure] = only(events, 'error');
    expect(failure?.error).toMatchObject({ code: 'MODEL_FAILED' });
    expect(String(failure?.error)).toContain('content filter');
    expect(doneOf(events)).toMatchObject({ end: 'failed', text: '' });
    expect(world.server.requests).toHaveLength(1);
  });

  it('that is empty is asked for again', async () => {
    const events = await turn([answer({}), says('Here I am.')]);
    expect(only(events, 'retry')).toHaveLength(1);
    expect(doneOf(events)).toMatchObject({ end: 'answered', text: 'Here I am.' });
  });

  it('that is empty every time ends the turn', async () => {
    const events = await turn(() => answer({}), {
      loop: { retries: { maxRetries: 2, firstDelayMs: 1 } },
    });
    expect(doneOf(events).end).toBe('failed');
    expect(world.server.requests).toHaveLength(3);
  });

  it('whose calls are cut by the length limit runs none of the cut ones', async () => {
    const cut = { name: 'write_note', args: '{"path":"a.txt","text":"half of a sen' };
    await turn([answer({ calls: [cut], finish: 'length' }), says('Sorry.')]);
    const notes = await import('node:fs/promises').then(({ readdir }) => readdir(world.folder));
    expect(notes).toEqual([]);
  });
});

describe('calls over a socket', () => {
  it.each(inCheck([1, 7, 10_000], (pieces) => pieces === 7))(
    'in parallel, in pieces of %i bytes, are answered in order',
    async (pieces) => {
      const made = Array.from({ length: 5 }, (_, i) => ({
        id: `c${i}`,
        name: 'write_note',
        args: { path: `${i}.txt`, text: `é👩‍🚀"${i}"\n` },
      }));
      const events = await turn([
        answer({ calls: made, pieces, delta: tries({ check: 12, long: 2 }) }),
        says('Done.'),
      ]);
      expect(told().map(({ id, text }) => [id, text])).toEqual(
        made.map(({ id, args }) => [id, `wrote ${args.path}`]),
      );
      expect(doneOf(events)).toMatchObject({ end: 'answered', steps: 2, calls: 5 });
      expect(only(events, 'tool_start')).toHaveLength(5);
      expect(only(events, 'tool_end')).toHaveLength(5);
    },
  );

  const wrong: Array<[string, string]> = [
    ['half of an object', '{"a": 1, "b"'],
    ['no JSON', 'a=1, b=2'],
    ['a list', '[1, 2]'],
    ['a string', '"a"'],
    ['null', 'null'],
    ['nothing', ''],
    ['two objects', '{"a":1,"b":2}{"a":3,"b":4}'],
    ['a trailing comma', '{"a":1,"b":2,}'],
    ['wrong types', '{"a":"1","b":[]}'],
    ['__proto__', '{"__proto__":{"a":1},"a":1,"b":2}'],
    ['50 levels', `${'{"a":'.repeat(50)}1${'}'.repeat(50)}`],
    ['1,000 levels', `${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}`],
    ['constructor.prototype', '{"constructor":{"prototype":{"a":1}},"a":"x","b":2}'],
  ];
  const standing = ['half of an object', 'wrong types', '__proto__', '1,000 levels'];
  it.each(inCheck(wrong, ([what]) => standing.includes(what)))(
    'with %s as arguments are answered, and the model goes on',
    async (_, args) => {
      const events = await turn([calls({ id: 'wrong', name: 'add', args }), says('Sorry.')]);
      const [end] = only(events, 'tool_end');
      expect(end?.result).toMatchObject({ ok: false, code: 'input_invalid' });
      expect(told()).toHaveLength(1);
      expect(doneOf(events)).toMatchObject({ end: 'answered', text: 'Sorry.' });
      expect(Object.hasOwn(Object.prototype, 'a')).toBe(false);
    },
  );

  const names = [
    'nothing_like_it',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    ' add',
    'ADD',
    'add\nadd',
    'functions.add',
    'ä'.repeat(50),
    'x'.repeat(10_000),
    '../add',
    '<|im_start|>',
  ];
  it.each(inCheck(names, (name) => ['__proto__', 'ADD'].includes(name)))(
    'of a tool named %j, which is none, are answered',
    async (name) => {
      const events = await turn([
        calls({ id: 'no', name }, { id: 'yes', name: 'add', args: { a: 1, b: 2 } }),
        says('Oh.'),
      ]);
      expect(doneOf(events)).toMatchObject({ end: 'answered' });
      const results = only(events, 'tool_end').map(({ result }) => result.ok);
      expect(results.sort()).toEqual([false, true]);
      expect(told().map(({ id }) => id)).toHaveLength(2);
      expect(told()[1]?.text).toBe('3');
    },
  );

  it('whose reader goes away while one runs are not run again', async () => {
    let runs = 0;
    const slow = defineTool({
      name: 'slow',
      description: 'Takes a while.',
      input: z.object({}),
      capabilities: {},
      async execute() {
        runs++;
        await new Promise((resolve) => setTimeout(resolve, 100));
        return ok('slow, but sure');
      },
    });
    world = await createAgentWorld({
      script: [calls({ name: 'slow' }), says('So.')],
      tools: [slow],
    });
    for await (const { type } of world.loop.run({ sessionId: 's', prompt: 'Go.' })) {
      if (type === 'tool_start') break;
    }
    const events = await eventsOf(world.anotherLoop().resume({ sessionId: 's' }));
    expect(doneOf(events)).toMatchObject({ end: 'answered', text: 'So.' });
    expect(runs).toBe(1);
    expect(told()).toMatchObject([
      { text: expect.stringMatching(/may have run|slow, but sure|abort/) },
    ]);
  });

  it('that never end are left when the time is up, and answered', async () => {
    const stuck = defineTool({
      name: 'stuck',
      description: 'Listens to nobody.',
      input: z.object({}),
      capabilities: {},
      execute: () => new Promise<never>(() => {}),
    });
    const events = await turn([calls({ name: 'stuck' }), says('Next.')], {
      tools: [stuck],
      loop: { limits: { maxMs: 300 } },
    });
    expect(doneOf(events).end).toBe('max_time');
    const next = await eventsOf(world.anotherLoop().run({ sessionId: 's', prompt: 'Go on.' }));
    expect(doneOf(next)).toMatchObject({ end: 'answered', text: 'Next.' });
    expect(told()).toHaveLength(1);
  });

  it('with halves of surrogate pairs in their arguments are sent back whole', async () => {
    const args = '{"path":"a.txt","text":"\\ud83d","\\udc69":["\\ud83d"]}';
    await turn([calls({ name: 'write_note', args }), says('Done.')]);
    expect(JSON.stringify(world.server.requests[1]?.messages)).not.toMatch(/\\u?d83d|\\udc69/);
  });

  it('and text in one answer are both kept', async () => {
    const made = [{ name: 'add', args: { a: 1, b: 2 } }];
    const events = await turn([answer({ text: 'Let me see.', calls: made }), says('It is 3.')]);
    const assistant = world.server.requests[1]?.messages.find(({ role }) => role === 'assistant');
    expect(assistant).toMatchObject({ content: 'Let me see.' });
    expect(doneOf(events).text).toBe('It is 3.');
  });

  it('with the finish reason `stop` are run all the same', async () => {
    const made = [{ name: 'add', args: { a: 1, b: 2 } }];
    await turn([answer({ calls: made, finish: 'stop' }), says('3')]);
    expect(told()).toMatchObject([{ text: '3' }]);
  });
});
