import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import {
  bundleScript,
  countTries,
  createTestFolder,
  inCheck,
  isLongRun,
  tries,
} from '@ethosagent/test-support';
import { afterEach, describe, expect, it } from 'vitest';
import { KINDS_OF_CHILDREN, RELAY_SECONDS } from '../testing/kinds-of-children.js';
import { markedProcesses, supervisorOf } from '../testing/marked-processes.js';

const script = await bundleScript(new URL('../testing/ending-host.ts', import.meta.url));
const kinds = inCheck(KINDS_OF_CHILDREN, (kind) => kind.inCheck === true).filter(
  ({ kind }) => kind !== 'relay',
);
type Kinds = typeof kinds;
// A host within a host takes as long again, so a check tries it with only one kind of ending.
const kindsOf = (ending: string) =>
  inCheck(kinds, ({ isHost }) => isHost !== true || ending === 'SIGKILL');
const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

/** Starts a host as the leader of a group of its own, as a shell starts a job. */
function startHost(mark: string, kinds: Kinds): ChildProcess {
  const host = spawn(process.execPath, [script, mark, kinds.map(({ kind }) => kind).join()], {
    detached: true,
    stdio: 'ignore',
  });
  started.push(host);
  return host;
}

const ENDINGS: readonly [name: string, end: (host: ChildProcess) => void][] = [
  ['process.exit', (host) => host.kill('SIGUSR2')],
  ['SIGTERM', (host) => host.kill('SIGTERM')],
  // A terminal sends this signal to the whole group.
  ['SIGINT', (host) => process.kill(-(host.pid ?? expect.fail('it has no id')), 'SIGINT')],
  ['SIGKILL', (host) => host.kill('SIGKILL')],
  ['what nobody catches', (host) => host.kill('SIGPIPE')],
];

/** The processes that a host must have, including those of the host within it. */
const expected = (mark: string, kinds: Kinds) =>
  kinds.flatMap(({ kind, isHost }) =>
    isHost === true
      ? [
          `${mark}:${kind}`,
          ...kinds.filter((of) => !of.isHost).map((of) => `${mark}:${kind}:${of.kind}`),
        ]
      : [`${mark}:${kind}`],
  );

describe('after the end of a host', () => {
  // The same process looks after all of them. Only `process.exit` lets the host do something itself.
  const endings = inCheck(ENDINGS, ([ending]) => ['process.exit', 'SIGKILL'].includes(ending));
  it.for(endings)('by %s, nothing is left that it started', async ([ending, end], context) => {
    const kinds = kindsOf(ending);
    for (let round = 0; round < tries({ check: 1, long: 10 }); round++) {
      const mark = randomUUID();
      const host = startHost(mark, kinds);
      const ended = once(host, 'exit');
      const wanted = expected(mark, kinds);
      const missing = () => {
        const there = new Set(markedProcesses(mark).values());
        return wanted.filter((each) => !there.has(each));
      };
      while (missing().length > 0) await delay(50);
      end(host);
      await ended;
      // Two seconds are promised. This does not measure them, since a busy machine may take longer.
      const begin = performance.now();
      while (markedProcesses(mark).size > 0) await delay(50);
      if (isLongRun()) console.log(`gone after ${Math.round(performance.now() - begin)} ms`);
      expect(markedProcesses(mark).size).toBe(0);
      countTries(context, 'processes', wanted.length);
    }
  });

  it.runIf(isLongRun())(
    'whenever it is killed, nothing is left that it started',
    async (context) => {
      const rounds = tries({ check: 1, long: 100 });
      for (let round = 0; round < rounds; round++) {
        const mark = randomUUID();
        const host = startHost(mark, kinds);
        const ended = once(host, 'exit');
        // From before the host begins until after it has started everything.
        await delay((round * 37 + 130) % 500);
        host.kill('SIGKILL');
        await ended;
        // A process that is just starting shows its mark a moment later.
        for (let calm = 0; calm < 5; calm = markedProcesses(mark).size === 0 ? calm + 1 : 0) {
          await delay(50);
        }
      }
      countTries(context, 'processes', rounds);
    },
  );

  it.runIf(isLongRun() && process.platform === 'linux')(
    'what a host within it started is not left, where the supervisor of that one is slow',
    async (context) => {
      const mark = randomUUID();
      const hidden = kinds.filter(({ kind, isHost }) => isHost === true || kind === 'bare-daemon');
      const host = startHost(mark, hidden);
      const ended = once(host, 'exit');
      const wanted = expected(mark, hidden);
      const there = () => [...markedProcesses(mark)];
      const inner = () => there().find(([, name]) => name === `${mark}:nested`)?.[0];
      while (wanted.some((each) => !there().some(([, name]) => name === each))) await delay(50);
      const slow = supervisorOf(inner());
      process.kill(slow ?? expect.fail('it has no supervisor'), 'SIGSTOP');
      host.kill('SIGKILL');
      await ended;
      while (there().length > 0) await delay(50);
      countTries(context, 'processes', wanted.length);
    },
  );

  it.runIf(isLongRun())('one that is another process at each look is not left', async (context) => {
    const rounds = 5;
    for (let round = 0; round < rounds; round++) {
      const folder = createTestFolder('relay');
      const host = spawn(process.execPath, [script, folder.dir, 'relay'], { stdio: 'ignore' });
      started.push(host);
      const ended = once(host, 'exit');
      while (!folder.has('begun')) await delay(50);
      host.kill('SIGKILL');
      await ended;
      // If the process lived to its own end, it would create this file.
      await delay(RELAY_SECONDS * 1_000 + 2_000);
      expect(folder.has('lived')).toBe(false);
      folder.remove();
    }
    countTries(context, 'processes', rounds);
  });
});
