import { inCheck } from '@ethosagent/test-support';
import { APICallError, LoadAPIKeyError } from 'ai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ScriptedStep } from './fixtures/scripted-model.js';
import { doneOf, eventsOf, ofType, World } from './fixtures/world.js';
import { modelFailure } from './model/model-error.js';

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.close());

function http(statusCode: number, responseHeaders: Record<string, string> = {}, message = 'no') {
  return new APICallError({
    message,
    url: 'http://m/',
    requestBodyValues: {},
    statusCode,
    responseHeaders,
  });
}

const OK: ScriptedStep = { text: 'ok' };

describe('a model that fails', () => {
  const failures: [string, ScriptedStep][] = [
    ['with 429', { throws: http(429) }],
    ['with 503', { throws: http(503) }],
    ['with 408', { throws: http(408) }],
    ['with a broken connection', { throws: new TypeError('fetch failed') }],
    ['with something that is no error', { throws: 'overloaded' }],
    ['in its answer', { text: 'half', breaks: new TypeError('terminated') }],
    ['by ending without a finish', { text: 'half', cut: true }],
    ['by finishing with an error', { text: 'half', finish: 'error' }],
    ['by saying nothing', {}],
    ['by saying spaces', { text: ' \n' }],
    ['by thinking only', { reasoning: 'hm' }],
  ];
  const standing = ['with 429', 'with a broken connection', 'in its answer', 'by saying nothing'];
  // The provider reports what these answers used, so that is recorded.
  const counted = ['by saying nothing', 'by saying spaces', 'by thinking only'];
  it.each(inCheck(failures, ([how]) => standing.includes(how)))(
    '%s is asked again',
    async (name, step) => {
      const loop = world.loop([step, step, OK]);
      const events = await eventsOf(loop.run({ sessionId: 's', prompt: 'Hi' }));
      expect(ofType(events, 'retry').map(({ attempt }) => attempt)).toEqual([1, 2]);
      expect(doneOf(events)).toMatchObject({ end: 'answered', text: 'ok', steps: 1 });
      expect((await world.sessions.messages('s')).map(({ text }) => text)).toEqual([
        'Hi',
        ...(counted.includes(name) ? ['', ''] : []),
        'ok',
        '',
      ]);
    },
  );

  it('pays for the answers that nobody can use, and asks no more than its budget allows', async () => {
    const prices = { input: 0, output: 1_000_000 };
    const useless: ScriptedStep[] = [
      { reasoning: 'hm' },
      { text: 'half of it', finish: 'content-filter' },
      { reasoning: 'hm', finish: 'length' },
    ];
    for (const [n, step] of useless.entries()) {
      const loop = world.loop(() => step, { prices, limits: { maxCostUsd: 8 } });
      const input = { sessionId: `s${n}`, prompt: 'Hi' };
      const ends = [doneOf(await eventsOf(loop.run(input)))];
      while (ends.length < 5 && ends.at(-1)?.end === 'failed') {
        ends.push(doneOf(await eventsOf(loop.resume(input))));
      }
      expect(ends.at(-1)).toMatchObject({ end: 'max_cost', usage: { costUsd: 10 } });
    }
  });

  it.each<[string, ScriptedStep]>([
    ['with 400', { throws: http(400) }],
    ['with 401', { throws: http(401) }],
    ['with 404', { throws: http(404) }],
    ['because it has no key', { throws: new LoadAPIKeyError({ message: 'no key' }) }],
    ['by its content filter', { text: 'half', finish: 'content-filter' }],
    ['by thinking up to its limit', { reasoning: 'hm', finish: 'length' }],
  ])('%s is not asked again, and the turn can be resumed', async (_name, step) => {
    const loop = world.loop([step, OK]);
    const events = await eventsOf(loop.run({ sessionId: 's', prompt: 'Hi' }));
    expect(ofType(events, 'retry')).toEqual([]);
    expect(ofType(events, 'error').map(({ error }) => error.code)).toEqual(['MODEL_FAILED']);
    expect(doneOf(events)).toMatchObject({ end: 'failed' });
    expect(await loop.state('s')).toBe('unfinished');
    expect(doneOf(await eventsOf(loop.resume({ sessionId: 's' })))).toMatchObject({ text: 'ok' });
  });

  it('is asked as often as it may be', async () => {
    const loop = world.loop(() => ({ throws: http(500) }), {
      retries: { maxRetries: 2, firstDelayMs: 1 },
    });
    const events = await eventsOf(loop.run({ sessionId: 's', prompt: 'Hi' }));
    expect(ofType(events, 'retry')).toHaveLength(2);
    expect(ofType(events, 'error').map(({ error }) => error.message)).toEqual([
      'MODEL_FAILED: the model call failed, 3 times (HTTP 500: no); resume the turn to ask again',
    ]);
  });

  it('in a later step is asked again, and its calls are not made again', async () => {
    const call: ScriptedStep = { calls: [{ name: 'echo', args: { text: 'a' } }] };
    const loop = world.loop([call, { throws: http(503) }, { breaks: 'x' }, OK]);
    expect(await loop.ask({ sessionId: 's', prompt: 'Hi' })).toMatchObject({ end: 'answered' });
    expect(world.ran).toEqual(['echo a']);
  });

  it('waits as long as the server says', async () => {
    const loop = world.loop([{ throws: http(429, { 'Retry-After': '0.05' }) }, OK]);
    const events = await eventsOf(loop.run({ sessionId: 's', prompt: 'Hi' }));
    expect(ofType(events, 'retry').map(({ delayMs }) => delayMs)).toEqual([50]);
  });

  it('is not waited for beyond the time of the turn', async () => {
    const loop = world.loop([{ throws: http(429, { 'retry-after': '86400' }) }, OK]);
    expect(await loop.ask({ sessionId: 's', prompt: 'Hi' })).toMatchObject({ end: 'failed' });
  });

  it('by cutting its answer off says so', async () => {
    const done = await world
      .loop([{ text: 'half', finish: 'length' }])
      .ask({ sessionId: 's', prompt: 'Hi' });
    expect(done).toMatchObject({ end: 'answered', text: 'half' });
    expect(done.message).toContain('cut off');
  });

  it('is silent for too long', async () => {
    const loop = world.loop([{ parts: [] }, OK], { retries: { idleMs: 50, firstDelayMs: 1 } });
    expect(await loop.ask({ sessionId: 's', prompt: 'Hi' })).toMatchObject({ end: 'answered' });
  });
});

describe('modelFailure', () => {
  it.each<[Record<string, string>, number | undefined]>([
    [{}, undefined],
    [{ 'retry-after': '3' }, 3_000],
    [{ 'RETRY-AFTER': '0' }, 0],
    [{ 'retry-after-ms': '250', 'retry-after': '3' }, 250],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:10 GMT' }, 9_000],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{ 'retry-after': '-5' }, undefined],
  ])('reads %j', (headers, ms) => {
    expect(modelFailure(http(429, headers), () => 1_000).retryAfterMs).toBe(ms);
  });

  it.each([
    'Incorrect API key provided: sk-proj-abc123DEF456',
    'Incorrect API key provided: sk-ab***********cd12.',
    'Authorization: Bearer abc.def.ghi was refused',
    'GET http://m/?api_key=abcDEF12&x=1 failed',
    'bad token 0123456789abcdef0123456789abcdef',
  ])('does not repeat the key of %j', (message) => {
    expect(modelFailure(http(401, {}, message), Date.now).message).not.toMatch(
      /abc123|ab\*|abc\.def|abcDEF12|0123456789abcdef/,
    );
  });

  it.each<[unknown]>([
    [null],
    [undefined],
    [{ toString: null }],
    [Symbol('x')],
    [{ message: 7 }],
    [BigInt(1)],
  ])('makes something of %s', (error) => {
    expect(modelFailure(error, Date.now).isRetryable).toBe(true);
  });
});
