import { inCheck, isLongRun, tries } from '@ethosagent/test-support';
import { afterEach, describe, expect, it } from 'vitest';
import type { AgentEvent } from '../api.js';
import {
  type AgentWorld,
  API_KEY,
  createAgentWorld,
  doneOf,
  eventsOf,
  only,
  shownText,
  type WorldOptions,
} from './fixtures/agent-world.js';
import {
  answer,
  calls,
  FLOODS,
  floods,
  hangsUp,
  refuses,
  resets,
  says,
  silent,
} from './fixtures/answers.js';
import { toolMessages } from './fixtures/chat-request.js';
import type { Answer } from './fixtures/model-server.js';

let world: AgentWorld;
afterEach(async () => {
  expect(world.server.problems).toEqual([]);
  const { requests } = world.server;
  await closed();
  expect(requests.every(({ headers }) => headers.authorization === `Bearer ${API_KEY}`)).toBe(true);
});
async function closed() {
  await world.close();
}

async function turn(script: WorldOptions['script'], more: Omit<WorldOptions, 'script'> = {}) {
  world = await createAgentWorld({ script, ...more });
  const events = await eventsOf(world.loop.run({ sessionId: 's', prompt: 'Go.' }));
  expect(JSON.stringify(events)).not.toContain(API_KEY);
  return events;
}

const write = calls({ id: 'w', name: 'write_note', args: { path: 'n.txt', text: 'x' } });
const SENTENCE = 'A sentence that takes many deltas until it is over.';
// More than an answer may have.
const LARGE = tries({ check: 2.1e6, long: 1e7 });
const HTML = '<html><body><h1>502 Bad Gateway</h1></body></html>';

describe('a model that fails once', () => {
  const failures: Array<[string, Answer]> = [
    ['429', refuses(429)],
    ['429 with seconds', refuses(429, { headers: { 'retry-after': '0' } })],
    ['408', refuses(408)],
    ['409', refuses(409)],
    ['500', refuses(500)],
    ['502 in HTML', refuses(502, { headers: { 'content-type': 'text/html' }, body: HTML })],
    ['503', refuses(503)],
    ['529', refuses(529)],
    ['200 in HTML', refuses(200, { headers: { 'content-type': 'text/html' }, body: HTML })],
    ['200 with nothing', refuses(200, { body: '' })],
    ['a reset', resets],
    ['a connection that is closed', hangsUp],
    ['an answer without a finish reason', answer({ text: SENTENCE, finish: null })],
    [
      'an answer that is not JSON',
      refuses(200, { headers: { 'content-type': 'text/event-stream' }, body: 'data: {"choi\n\n' }),
    ],
    ...[0, 1, 100, 400, 900, 1_500].map((cutAfter): [string, Answer] => [
      `a cut after ${cutAfter} bytes`,
      answer({ text: SENTENCE, cutAfter }),
    ]),
    ...[300, 700, 1_200].map((cutAfter): [string, Answer] => [
      `a cut in a call, after ${cutAfter} bytes`,
      answer({
        calls: [{ name: 'write_note', args: { path: 'cut.txt', text: SENTENCE } }],
        cutAfter,
      }),
    ]),
  ];

  const kinds = ['429', '200 in HTML', 'a reset', 'an answer that is not JSON'];
  const cuts = ['a cut after 400 bytes', 'a cut in a call, after 700 bytes'];
  const standing = [...kinds, ...cuts];
  it.each(inCheck(failures, ([what]) => standing.includes(what)))(
    'by %s is asked again',
    async (_, failure) => {
      const events = await turn([failure, says('Fine now.')]);
      expect(only(events, 'retry')).toHaveLength(1);
      expect(shownText(events)).toBe('Fine now.');
      expect(doneOf(events)).toMatchObject({ end: 'answered', text: 'Fine now.', calls: 0 });
    },
  );

  it.each(inCheck(failures, ([what]) => what === 'a reset'))(
    'by %s after a call is asked again, and the call is not',
    async (_, failure) => {
      const events = await turn([write, failure, says('Written.')]);
      expect(only(events, 'tool_start')).toHaveLength(1);
      const asked = world.server.requests.slice(1).map((request) => toolMessages(request));
      expect(asked).toEqual([
        [{ id: 'w', text: 'wrote n.txt' }],
        [{ id: 'w', text: 'wrote n.txt' }],
      ]);
      expect(doneOf(events)).toMatchObject({ end: 'answered', calls: 1 });
    },
  );
});

describe('a model that asks to wait', () => {
  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toUTCString();
  // `modelFailure` has a table of its own in `retries.test.ts`.
  const waits: [string, () => Record<string, string>, number, number][] = [
    ['Retry-After in seconds', () => ({ 'retry-after': '1' }), 900, 5_000],
    ['Retry-After as a date', () => ({ 'retry-after': inSeconds(3) }), 500, 6_000],
    ['retry-after-ms', () => ({ 'retry-after-ms': '700' }), 600, 5_000],
    ['Retry-After in the past', () => ({ 'retry-after': inSeconds(-60) }), 0, 5_000],
    ['a negative Retry-After', () => ({ 'retry-after': '-5' }), 0, 5_000],
    ['words as Retry-After', () => ({ 'retry-after': 'soon' }), 0, 5_000],
  ];
  it.each(inCheck(waits, ([what]) => what === 'retry-after-ms'))(
    'by %s is asked again then',
    async (_, headers, least, most) => {
      const events = await turn(
        [(exchange) => refuses(429, { headers: headers() })(exchange), says('Now.')],
        { loop: { retries: { firstDelayMs: 1, maxDelayMs: 10_000 } } },
      );
      const [retry] = only(events, 'retry');
      expect(retry?.delayMs).toBeGreaterThanOrEqual(least);
      expect(retry?.delayMs).toBeLessThanOrEqual(most);
      const [first, second] = world.server.requests;
      expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(least);
      expect(doneOf(events).end).toBe('answered');
    },
  );

  it('for a year is not waited for longer than the limits of the turn', async () => {
    const events = await turn(() => refuses(429, { headers: { 'retry-after': '31536000' } }), {
      loop: { limits: { maxMs: 300 } },
    });
    expect(['max_time', 'failed']).toContain(doneOf(events).end);
  });
});

describe('a model that fails for good', () => {
  const failures: [string, Answer][] = [
    ['400', refuses(400)],
    [
      '401',
      refuses(401, {
        body: JSON.stringify({ error: { message: `Incorrect API key: ${API_KEY}` } }),
      }),
    ],
    ['403', refuses(403)],
    ['404', refuses(404)],
    ['413', refuses(413)],
    ['422', refuses(422)],
    [`${LARGE / 1e6} MB of text`, answer({ text: 'x'.repeat(LARGE), delta: 1e5 })],
    [
      `${LARGE / 1e6} MB of arguments`,
      answer({ calls: [{ name: 'add', args: 'x'.repeat(LARGE) }], delta: 1e5 }),
    ],
  ];
  const standing = ['400', '401', `${LARGE / 1e6} MB of text`];
  it.each(inCheck(failures, ([what]) => standing.includes(what)))(
    'by %s is not asked again',
    async (_, failure) => {
      const events = await turn(() => failure);
      expect(world.server.requests).toHaveLength(1);
      expect(only(events, 'error').map(({ error }) => error.code)).toEqual(['MODEL_FAILED']);
      expect(String(only(events, 'error')[0]?.error.message)).not.toContain(API_KEY);
      expect(doneOf(events).end).toBe('failed');
    },
  );

  it('by 503 each time is asked as often as it may be', async () => {
    const events = await turn(() => refuses(503), {
      loop: { retries: { maxRetries: 3, firstDelayMs: 1 } },
    });
    expect(world.server.requests).toHaveLength(4);
    expect(only(events, 'retry').map(({ attempt }) => attempt)).toHaveLength(3);
    expect(doneOf(events).end).toBe('failed');
  });

  it('can be asked on when it is back, and no call runs again', async () => {
    const events = await turn([write, refuses(401), says('Back.')]);
    expect(doneOf(events).end).toBe('failed');
    expect(await world.loop.state('s')).toBe('unfinished');
    const resumed = await eventsOf(world.loop.resume({ sessionId: 's' }));
    expect(only(resumed, 'tool_start')).toEqual([]);
    expect(doneOf(resumed)).toMatchObject({ end: 'answered', text: 'Back.' });
  });
});

describe('a model that does not end', () => {
  const endless: Array<[string, Answer]> = [
    ['never answers', silent],
    ['stops in the headers of its stream', answer({ text: SENTENCE, stallAfter: 0 })],
    ['stops in its answer', answer({ text: SENTENCE, stallAfter: 700 })],
    ['drips', answer({ text: SENTENCE.repeat(1_000), pieces: 1, pauseMs: 20 })],
  ];

  it.each(inCheck(endless, ([what]) => what !== 'stops in the headers of its stream'))(
    '(%s) is left when the time is up',
    async (_, endlessly) => {
      const events = await turn(() => endlessly, { loop: { limits: { maxMs: 400 } } });
      expect(doneOf(events)).toMatchObject({ end: 'max_time' });
      expect(doneOf(events).message).toBeTruthy();
      await expect.poll(() => world.server.open()).toBe(0);
    },
  );

  it.each(inCheck(endless, ([what]) => what === 'never answers'))(
    '(%s) is left when the caller goes',
    async (_, endlessly) => {
      world = await createAgentWorld({ script: () => endlessly });
      const abort = new AbortController();
      setTimeout(() => abort.abort(), 200);
      const events = await eventsOf(
        world.loop.run({ sessionId: 's', prompt: 'Go.', abortSignal: abort.signal }),
      );
      expect(doneOf(events).end).toBe('aborted');
      await expect.poll(() => world.server.open()).toBe(0);
    },
  );

  it.each(inCheck(endless.slice(2), ([what]) => what !== 'drips'))(
    '(%s) is left by who stops listening',
    async (_, endlessly) => {
      world = await createAgentWorld({ script: () => endlessly });
      for await (const event of world.loop.run({ sessionId: 's', prompt: 'Go.' })) {
        if (event.type === 'text') break;
      }
      await expect.poll(() => world.server.open()).toBe(0);
      expect(await world.loop.state('s')).toBe('unfinished');
    },
  );

  it.each(inCheck(Object.entries(FLOODS), ([what]) => what === 'short texts'))(
    'but floods with %s keeps little of them',
    async (_, delta) => {
      let sent = 0;
      const before = process.memoryUsage().rss;
      let highest = 0;
      const watch = setInterval(() => {
        highest = Math.max(highest, process.memoryUsage().rss);
      }, 20);
      world = await createAgentWorld({
        script: () =>
          floods(delta, 2 * 1024 ** 3, (bytes) => {
            sent = bytes;
          }),
        loop: { limits: { maxMs: isLongRun() ? 10_000 : 300 } },
      });
      let last: AgentEvent | undefined;
      for await (const event of world.loop.run({ sessionId: 's', prompt: 'Go.' })) last = event;
      clearInterval(watch);
      expect(sent).toBeLessThan(1024 ** 3);
      expect(last).toMatchObject({ type: 'done', end: expect.stringMatching(/max_|failed/) });
      expect((highest - before) / 1024 ** 2).toBeLessThan(400);
      expect(JSON.stringify(await world.store.messages('s')).length).toBeLessThan(10_000_000);
    },
  );
});
