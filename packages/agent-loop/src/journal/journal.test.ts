import { setImmediate } from 'node:timers/promises';
import { SessionLedgers } from '@ethosagent/core';
import type { NewSessionMessage, SessionStore } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectWellFormed } from '../fixtures/well-formed.js';
import { doneOf, eventsOf, ofType, World } from '../fixtures/world.js';
import { registryTools } from '../registry-tools.js';
import { NO_USAGE } from '../usage.js';
import { Journal, readLog } from './journal.js';
import type { StepRecord } from './records.js';

const ECHO = { id: 'e', name: 'echo', args: { text: 'a' } };
const PAY = { id: 'p', name: 'pay', args: { amount: 1 } };
const REF = { id: 's', scopeId: 'personality:tester' };
const STEP: StepRecord = {
  kind: 'step',
  turn: 1,
  step: 1,
  parts: [{ type: 'call', id: 'e', name: 'echo', input: {} }],
  usage: NO_USAGE,
  finish: 'tool-calls',
};
const INPUT = { sessionId: 's', prompt: 'Work' };

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.close());

const kindsOf = (messages: readonly Pick<NewSessionMessage, 'data'>[]): string[] =>
  messages.map(({ data }) => Object(data).kind);

const stored = async () => kindsOf(await world.sessions.messages('s'));

/** The store, and what is to happen before an append of these kinds of records. */
function watched(before: (kinds: string[]) => unknown): SessionStore {
  const { sessions } = world;
  return {
    ...sessions,
    async append(...args) {
      await before(kindsOf(args[1]));
      return sessions.append(...args);
    },
  };
}

/** The journal of a turn that has begun. */
async function openJournal(): Promise<Journal> {
  for await (const { type } of world.loop([]).run(INPUT)) if (type === 'start') break;
  return new Journal(world.sessions, REF, {
    log: await readLog(world.sessions, 's'),
    ledger: SessionLedgers.of(world.sessions).ofSession('s', {}),
    graceMs: 1_000,
  });
}

describe('a step with calls', () => {
  it('is stored in one append with the start of its first call', async () => {
    const appends: string[][] = [];
    const sessions = watched((kinds) => appends.push(kinds));
    const script = [{ calls: [ECHO] }, { text: 'Done.' }];
    await eventsOf(world.loop(script, { sessions }).run(INPUT));
    expect(appends).toEqual([['user'], ['step', 'started'], ['result'], ['step', 'end']]);
    // What the session had read when the calls were issued is in it too.
    expect((await world.sessions.messages('s'))[1]?.data).toMatchObject({ known: 0 });
  });

  it('is stored before anybody is asked about a call of it', async () => {
    const seen: string[][] = [];
    const loop = world.loop([{ calls: [PAY] }], {
      async approve() {
        seen.push(await stored());
        return 'later' as const;
      },
    });
    expect(doneOf(await eventsOf(loop.run(INPUT))).end).toBe('paused');
    expect(seen).toEqual([['user', 'step']]);
  });

  it('is asked about by nobody if it can not be stored, and is not stored later', async () => {
    const asked: string[] = [];
    let failures = 1;
    const loop = world.loop([{ calls: [PAY] }], {
      sessions: watched((kinds) => {
        if (kinds.includes('step') && failures-- > 0) throw new Error('the disk is on fire');
      }),
      approve: ({ toolName }) => asked.push(toolName) === 0,
    });
    const events = await eventsOf(loop.run(INPUT));
    expect(ofType(events, 'error').map(({ error }) => error.message)).toEqual([
      expect.stringContaining('the disk is on fire'),
    ]);
    expect(doneOf(events).end).toBe('failed');
    expect(asked).toEqual([]);
    expect(await stored()).toEqual(['user']);
  });

  it('is asked about by nobody if the turn is aborted while it is stored', async () => {
    const controller = new AbortController();
    const asked: string[] = [];
    const sessions = watched(async (kinds) => {
      if (!kinds.includes('step')) return;
      controller.abort();
      await setImmediate();
    });
    const loop = world.loop([{ calls: [PAY] }], {
      sessions,
      approve: ({ toolName }) => asked.push(toolName) === 0,
    });
    const done = doneOf(await eventsOf(loop.run({ ...INPUT, abortSignal: controller.signal })));
    expect(done.end).toBe('aborted');
    expect(asked).toEqual([]);
  });

  it('is stored when its turn is left before a call of it begins', async () => {
    const loop = world.loop([{ calls: [ECHO] }]);
    for await (const { type } of loop.run(INPUT)) if (type === 'usage') break;
    expect((await stored()).slice(0, 2)).toEqual(['user', 'step']);
  });

  it('is stored when the turn breaks off before a call of it begins', async () => {
    const loop = world.loop([{ calls: [ECHO] }], {
      tools: {
        ...registryTools(world.registry, world.personality, { workingDir: world.folder }),
        execute: () => Promise.reject(new Error('it can not run')),
      },
    });
    expect(doneOf(await eventsOf(loop.run(INPUT))).end).toBe('failed');
    expect(await stored()).toEqual(['user', 'step']);
  });

  it('is stored with a record that is to be stored in the same moment', async () => {
    const journal = await openJournal();
    await Promise.all([
      journal.appendSoon(STEP),
      journal.append({ kind: 'delegated', turn: 1, begun: 0, usage: NO_USAGE }),
    ]);
    expect(await stored()).toEqual(['user', 'step', 'delegated']);
  });

  it('is stored by nobody who does not hold the session that somebody else holds', async () => {
    const tools = registryTools(world.registry, world.personality, { workingDir: world.folder });
    const other = world.loop([]);
    const asked: string[] = [];
    const loop = world.loop([{ calls: [PAY] }], {
      approve: ({ toolName }) => asked.push(toolName) === 0,
      tools: {
        ...tools,
        async definitions(...args) {
          expect(await other.hold('s', 60_000)).toBeDefined();
          return tools.definitions(...args);
        },
      },
    });
    const events = await eventsOf(loop.run(INPUT));
    expect(ofType(events, 'error').map(({ error }) => error.code)).toEqual(['SESSION_TAKEN']);
    expect(asked).toEqual([]);
    expect(await stored()).toEqual(['user']);
  });

  it('taints the session before it is stored, and is then as it was in the log', async () => {
    const journal = await openJournal();
    await journal.appendSoon({ ...STEP, untrusted: true });
    const other = SessionLedgers.of({ ...world.sessions }).ofSession('s', {});
    await other.refresh();
    expect(other.sources).toHaveLength(1);
    expect(await stored()).toEqual(['user']);
    await journal.store();
    expect(await stored()).toEqual(['user', 'step']);
    const read = await readLog(world.sessions, 's');
    expect(journal.log.turn).toEqual(read.turn);
    expect(journal.log.lastSequence).toBe(read.lastSequence);
  });

  it('may be stored after the use of a sub-agent that another process wrote', async () => {
    const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, costUsd: 0 };
    const data = { v: 1, kind: 'delegated', turn: 1, begun: 0, usage };
    const sessions = watched(async (kinds) => {
      if (!kinds.includes('started')) return;
      const [last] = (await world.sessions.messages('s')).slice(-1);
      if (Object(last?.data).kind !== 'user') return;
      await world.sessions.append(REF, [{ role: 'system', text: '', data }], { aside: true });
    });
    const loop = world.loop([{ calls: [ECHO] }, { text: 'Done.' }, { text: 'Hi.' }], { sessions });
    const done = doneOf(await eventsOf(loop.run(INPUT)));
    expect(done.end).toBe('answered');
    expect(world.ran).toEqual(['echo a']);
    const first = ['user', 'delegated', 'step', 'started', 'result', 'step', 'end'];
    expect(await stored()).toEqual(first);
    // The log that is kept for the next turn is at the same place as the store.
    expect(doneOf(await eventsOf(loop.run(INPUT))).end).toBe('answered');
    expect(await stored()).toEqual([...first, 'user', 'step', 'end']);
    await expectWellFormed(world);
  });
});
