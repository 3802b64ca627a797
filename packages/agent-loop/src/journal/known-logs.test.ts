import { afterEach, expect, it } from 'vitest';
import { World } from '../fixtures/world.js';
import { readLog } from './journal.js';
import { KnownLogs } from './known-logs.js';
import { messageOf } from './records.js';
import type { SessionLog } from './session-log.js';

let world: World | undefined;
afterEach(() => world?.close());

const USAGE = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, costUsd: 0 };

/** Appends turns with three records each, whose texts begin with a word, at any time or a given one. */
async function addTurns(
  of: World,
  word: string,
  [from, to, createdAt]: [from: number, to: number, createdAt?: number],
): Promise<void> {
  const records = Array.from({ length: to - from }, (_, n) => from + n + 1).flatMap((turn) => [
    messageOf({ kind: 'user', turn, prompt: `${word} ${turn}` }, () => undefined),
    messageOf(
      { kind: 'step', turn, step: 1, parts: [], usage: USAGE, finish: 'stop' },
      () => undefined,
    ),
    messageOf({ kind: 'end', turn, end: 'answered' }, () => undefined),
  ]);
  await of.sessions.append(
    { id: 's', scopeId: 'personality:tester' },
    records.map((record) => ({ ...record, ...(createdAt !== undefined && { createdAt }) })),
  );
}

const shown = (log: SessionLog) => JSON.stringify([log.entries, log.turn, log.messageCount]);

it('KnownLogs.read goes on from what is known, to the same log', async () => {
  world = new World();
  const { sessions } = world;
  await addTurns(world, 'one', [0, 5]);
  const logs = new KnownLogs(9);
  const log = await logs.read(sessions, 's');
  logs.keep('s', log);
  await addTurns(world, 'two', [5, 8]);
  const again = await logs.read(sessions, 's');
  expect(again).toBe(log);
  expect(shown(again) === shown(await readLog(sessions, 's'))).toBe(true);
  // A log that was taken is given to nobody else.
  expect(await logs.read(sessions, 's')).not.toBe(log);
});

it.each([
  ['with the same records, at another time', 'old', 2],
  ['with other records, at the same time', 'new', 1],
] as const)(
  'KnownLogs.read reads a session anew that was deleted and begun again %s',
  async (_, word, time) => {
    world = new World();
    const { sessions } = world;
    await addTurns(world, 'old', [0, 5, 1]);
    const logs = new KnownLogs(9);
    const log = await logs.read(sessions, 's');
    logs.keep('s', log);
    await sessions.delete('s');
    await addTurns(world, word, [0, 7, time]);
    const again = await logs.read(sessions, 's');
    expect(again).not.toBe(log);
    expect(shown(again) === shown(await readLog(sessions, 's'))).toBe(true);
  },
);

it('KnownLogs.read reads a session anew whose last record is another one', async () => {
  world = new World();
  const { sessions } = world;
  await addTurns(world, 'one', [0, 5]);
  const logs = new KnownLogs(9);
  const log = await logs.read(sessions, 's');
  logs.keep('s', Object.assign(log, { lastRecord: { kind: 'end', turn: 5, end: 'aborted' } }));
  expect(await logs.read(sessions, 's')).not.toBe(log);
});

it('KnownLogs.keep keeps a few long ones, the last', async () => {
  world = new World();
  const { sessions } = world;
  await addTurns(world, 'one', [0, 5]);
  const logs = new KnownLogs(9);
  const first = await readLog(sessions, 's');
  logs.keep('s', first);
  for (let n = 0; n < 8; n++) logs.keep(`other ${n}`, await readLog(sessions, 's'));
  expect(await logs.read(sessions, 's')).not.toBe(first);
  await sessions.delete('s');
  await addTurns(world, 'short', [0, 2]);
  const short = await readLog(sessions, 's');
  logs.keep('s', short);
  expect(await logs.read(sessions, 's')).not.toBe(short);
});
