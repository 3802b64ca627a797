import { errorCodeOf, type SessionStore } from '@ethosagent/types';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { doneOf, eventsOf, ofType, World } from './fixtures/world.js';
import { registryTools } from './registry-tools.js';

let world: World;
// Loaded before the tests, since the first import takes long.
beforeAll(() => import('ai'));
beforeEach(() => {
  world = new World();
});
afterEach(() => world.close());

const never = () => new Promise<never>(() => {});
// The time after which an unanswered request counts as failed.
const limits = { graceMs: 50 };
const ECHO = [{ calls: [{ name: 'echo', args: { text: 'a' } }] }];

/** A store that never answers an append with one of these kinds of records. */
function silentAt(...kinds: string[]): SessionStore {
  const { sessions } = world;
  return {
    ...sessions,
    append(...args: Parameters<SessionStore['append']>) {
      const isSilent = args[1].some(({ data }) => kinds.includes(Object(data).kind));
      return isSilent ? never() : sessions.append(...args);
    },
  };
}

describe('a turn', () => {
  it.each(['step', 'started', 'result', 'end'])(
    'ends when its time is up, although the store never answers to %s',
    async (kind) => {
      const script = kind === 'end' ? [...ECHO, ...ECHO, ...ECHO] : ECHO;
      const loop = world.loop(script, {
        // On a busy machine, the turn may reach its time limit before the record comes.
        sessions: silentAt(kind, 'end'),
        limits: { ...limits, maxMs: 200, ...(kind === 'end' && { maxSteps: 1 }) },
      });
      const events = await eventsOf(loop.run({ sessionId: 's', prompt: 'Go' }));
      expect(doneOf(events)).toMatchObject({
        end: 'failed',
        error: { code: 'STORE_UNAVAILABLE' },
      });
      await loop.close();
    },
  );

  it('that its reader leaves ends, although the store never answers', async () => {
    const loop = world.loop(ECHO, { sessions: silentAt('step'), limits });
    for await (const { type } of loop.run({ sessionId: 's', prompt: 'Go' })) {
      if (type === 'step') break;
    }
    const waiting = loop.run({ sessionId: 't', prompt: 'Go' })[Symbol.asyncIterator]();
    await waiting.next();
    await waiting.next();
    const next = waiting.next();
    await waiting.return?.();
    expect(await next).toMatchObject({ done: true });
    await loop.close();
  });

  it.each(['personality', 'definitions'] as const)(
    'ends when its time is up, although %s never answers',
    async (what) => {
      const tools = registryTools(world.registry, world.personality, { workingDir: world.folder });
      let calls = 0;
      const silent = {
        ...tools,
        async [what](id?: string) {
          calls += 1;
          // The first request comes before the turn begins.
          return calls === 1 && what === 'personality' ? tools.personality(id) : never();
        },
      };
      const loop = world.loop(ECHO, { tools: silent, limits: { maxMs: 50 } });
      const events = await eventsOf(loop.run({ sessionId: 's', prompt: 'Go' }));
      expect(doneOf(events)).toMatchObject({ end: 'max_time' });
    },
  );

  it.each(['close', 'abort'])('that can not even begin ends at a %s', async (how) => {
    const controller = new AbortController();
    const sessions = { ...world.sessions, get: never };
    const loop = world.loop(ECHO, { sessions, limits });
    const input = { sessionId: 's', prompt: 'Go', abortSignal: controller.signal };
    const events = eventsOf(loop.run(input)).catch(errorCodeOf);
    await new Promise((resolve) => setImmediate(resolve));
    if (how === 'abort') controller.abort();
    else await loop.close();
    expect(await events).toEqual(how === 'abort' ? 'STORE_UNAVAILABLE' : []);
  });

  it.each(['run', 'resume'] as const)(
    'that was given up on before it began does not begin later (%s)',
    async (how) => {
      const pay = [{ calls: [{ name: 'pay', args: { amount: 1 } }] }];
      if (how === 'resume') await world.loop(pay).ask({ sessionId: 's', prompt: 'Pay' });
      const before = await world.sessions.messages('s');
      const tools = registryTools(world.registry, world.personality, { workingDir: world.folder });
      let answer = () => {};
      const late = new Promise<void>((resolve) => {
        answer = resolve;
      });
      const slow = {
        ...tools,
        async personality(id?: string) {
          await late;
          return tools.personality(id);
        },
      };
      const loop = world.loop(ECHO, { tools: slow, limits });
      const input = { sessionId: 's', prompt: 'Go', abortSignal: AbortSignal.abort() };
      const code = await eventsOf(loop[how](input)).catch(errorCodeOf);
      expect(code).toBe('STORE_UNAVAILABLE');
      answer();
      await new Promise((resolve) => setTimeout(resolve, 30));
      expect(await world.sessions.messages('s')).toEqual(before);
    },
  );

  it('that nobody reads ends when its time is up, and the session can be gone on with', async () => {
    const deltas = Array.from({ length: 500 }, () => 'x');
    const loop = world.loop([{ deltas }, { text: 'on' }], { limits: { maxMs: 80 } });
    const reader = loop.run({ sessionId: 's', prompt: 'Go' })[Symbol.asyncIterator]();
    await reader.next();
    await expect.poll(() => loop.state('s')).toBe('idle');
    expect(await loop.ask({ sessionId: 's', prompt: 'Go on' })).toMatchObject({ text: 'on' });
    const rest = [];
    for (let next = await reader.next(); !next.done; next = await reader.next())
      rest.push(next.value);
    expect(doneOf(rest)).toMatchObject({ end: 'max_time', turn: 1 });
    expect(ofType(rest, 'text').length).toBeGreaterThan(10);
  });
});
