import { createSqliteTurns } from '@ethosagent/storage-sqlite';
import { afterEach, describe, expect, it } from 'vitest';
import { createLocalFleet, type LocalFleet } from './fixtures/local-fleet.js';
import { createFleet } from './fleet.js';
import { TurnWorker } from './worker.js';

// What plain JavaScript can pass, and TypeScript refuses.

let place: LocalFleet | undefined;
afterEach(async () => {
  await place?.close();
  place = undefined;
});

function open(): LocalFleet {
  place = createLocalFleet(() => ({ text: 'done' }));
  return place;
}

/** Of plain JavaScript, which can pass anything. */
const odd = (value: unknown): never => value as never;

const turn = { sessionId: 's', prompt: 'Go on.' };

describe('Fleet.enqueue', () => {
  it.each<[string, unknown]>([
    ['a misspelt `untrusted`, which would trust the prompt', { ...turn, untrused: true }],
    ['a misspelt `after`, which would wait for nothing', { ...turn, afer: ['other'] }],
    ['a promise', Promise.resolve(turn)],
    ['null', null],
    ['nothing', undefined],
  ])('refuses %s', async (_what, given) => {
    const { fleet } = open();
    await expect(fleet.enqueue(odd(given))).rejects.toMatchObject({ code: 'VALUE_INVALID' });
    expect(await fleet.health()).toMatchObject({ turns: { waiting: 0 } });
  });
});

describe('Fleet.flow', () => {
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a misspelt name', { turn: [turn], last: turn }],
    ['one turn for a list', { turns: turn, last: turn }],
    ['fields of a turn', { turns: [turn], last: turn, untrusted: true }],
  ])('refuses %s', async (_what, given) => {
    const { fleet } = open();
    await expect(fleet.flow(odd(given))).rejects.toMatchObject({
      code: 'VALUE_INVALID',
      message: expect.stringContaining('a flow: '),
    });
  });
});

describe('Fleet.schedule', () => {
  it('refuses null', async () => {
    const { fleet } = open();
    await expect(fleet.schedule(odd(null))).rejects.toMatchObject({ code: 'VALUE_INVALID' });
  });
});

describe('Fleet.watch', () => {
  it.each<[string, unknown]>([
    ['null', null],
    ['a controller for a signal', { signal: new AbortController() }],
    ['a position that is a text', { after: '3' }],
    ['a pause that is no number', { pollMs: Number.NaN }],
    ['a misspelt name', { afer: 3 }],
  ])('refuses %s', async (_what, options) => {
    const events = open().fleet.watch('s', odd(options))[Symbol.asyncIterator]();
    await expect(events.next()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});

describe('createFleet', () => {
  it.each<[string, (turns: unknown) => unknown, string]>([
    ['a promise of a store', (turns) => ({ turns: Promise.resolve(turns) }), 'turns must be'],
    ['no store', () => ({}), 'turns must be'],
    ['null for an engine', (turns) => ({ turns, engine: null }), 'engine must be'],
    ['the name of an engine', (turns) => ({ turns, engine: 'bullmq' }), 'engine must be'],
  ])('refuses %s', (_what, optionsOf, problem) => {
    const turns = createSqliteTurns({ path: ':memory:' });
    try {
      expect(() => createFleet(odd(optionsOf(turns)))).toThrow(
        `CONFIG_INVALID: createFleet: ${problem}`,
      );
    } finally {
      turns.close();
    }
  });
});

describe('Fleet.startWorker', () => {
  it.each<[string, unknown, string]>([
    ['no agent', { agent: undefined }, 'agent must be what createAgent returned, after await'],
    ['a promise of an agent', { agent: Promise.resolve({}) }, 'agent must be what createAgent'],
    // The timer would fire at once: a worker that closes would leave its turns.
    ['a longer drain than timers take', { drainMs: 1e10 }, 'drainMs must be a whole number from 0'],
    ['a longer lease than stores give', { leaseMs: 1e9 }, 'leaseMs must be a whole number from 1'],
    ['a longer sweep than timers take', { sweepMs: 1e10 }, 'sweepMs must be a whole number from 1'],
  ])('refuses %s, and takes no turn', async (_what, options, problem) => {
    const { fleet, startWorker } = open();
    const id = await fleet.enqueue(turn);
    await expect(startWorker(odd(options))).rejects.toThrow(
      `CONFIG_INVALID: startWorker: ${problem}`,
    );
    expect(await fleet.turn(id)).toMatchObject({ state: 'waiting', attempts: 0 });
  });
});

describe('new TurnWorker', () => {
  it('says that it needs the parts of a fleet', () => {
    const { loop } = open();
    expect(() => new TurnWorker({ agent: { loop } }, odd(undefined))).toThrow(
      'CONFIG_INVALID: TurnWorker: the options are missing; give an object with turns, engine',
    );
  });
});

describe('Fleet.decide', () => {
  it('refuses a promise of an agent', async () => {
    const approval = { sessionId: 's', toolCallId: 'c', question: 'q' };
    const decided = open().fleet.decide(odd(Promise.resolve({})), approval, { approved: true });
    await expect(decided).rejects.toThrow('CONFIG_INVALID: decide: agent must be');
  });
});
