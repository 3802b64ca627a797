import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningScript, startScript } from '@ethosagent/conformance/attacks';
import type { SessionResult, ToolSession } from '@ethosagent/core';
import { createPostgresStores } from '@ethosagent/storage-postgres';
import {
  bundleScript,
  inCheck,
  isLongRun,
  newPostgresDatabase,
  tries,
} from '@ethosagent/test-support';
import { PATIENT_POSTGRES } from '@ethosagent/test-support/patience';
import type { ToolCall } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSessionTools } from './fixtures/session-tools.js';
import { createToolRuntime } from './tool-runtime.js';

const agentScript = await bundleScript(new URL('./fixtures/act-as-agent.ts', import.meta.url));
const script = await bundleScript(new URL('./fixtures/act-in-session.ts', import.meta.url));
const PAY: ToolCall = { toolCallId: 'c', name: 'pay', args: { text: 'once' } };
const ATTEMPTS = tries({ check: 3, long: 5 });
/** The number of processes where the exact number does not matter. */
const MANY = tries({ check: 2, long: 3 });
const SOME = tries({ check: 1, long: 2 });

let folder: string;
let started: RunningScript[];
/** The database of the sessions, if each process has a home of its own. */
let url: string | undefined;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'processes-')));
  started = [];
  url = undefined;
});

/** The home that all processes share. With a database, each machine has its own. */
function homeOf(machine: number): string {
  const home = join(folder, url === undefined ? 'home' : `home-${machine}`);
  const personality = join(home, 'personalities', 'coder');
  mkdirSync(personality, { recursive: true, mode: 0o700 });
  writeFileSync(join(personality, 'config.yaml'), 'name: Coder\n');
  return home;
}
afterEach(async () => {
  for (const { child, ended } of started) {
    child.kill('SIGKILL');
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
});

/** Processes that begin at the same time. */
async function begun(
  count: number,
  calls: readonly ToolCall[],
  attempts = 1,
): Promise<RunningScript[]> {
  const work = [JSON.stringify(calls), String(attempts), ...(url === undefined ? [] : [url])];
  const running = Array.from({ length: count }, (_, machine) =>
    startScript(script, { args: [folder, homeOf(machine), ...work] }),
  );
  started.push(...running);
  for (const each of running) await saying(each, 'ready');
  for (const { child } of running) child.kill('SIGUSR2');
  return running;
}

/** The results of processes that begin at the same time. */
async function processes(
  count: number,
  calls: readonly ToolCall[],
  attempts = 1,
): Promise<SessionResult[]> {
  const running = await begun(count, calls, attempts);
  const results: SessionResult[] = [];
  for (const { ended, lines } of running) {
    expect(await ended).toMatchObject({ code: 0 });
    results.push(
      ...lines()
        .slice(1)
        .map((line) => JSON.parse(line)),
    );
  }
  return results;
}
/** A turn of an agent in another process, up to its tool `hold`. */
async function heldTurn(...steps: string[][]): Promise<RunningScript> {
  const args = [homeOf(8), JSON.stringify(steps), ...(url === undefined ? [] : [url])];
  const running = startScript(agentScript, { args });
  started.push(running);
  await saying(running, 'holding');
  return running;
}

/** Waits until a process prints a word. Throws its errors if it ends before that. */
async function saying({ child, lines, ended }: RunningScript, word: string): Promise<void> {
  const end = ended.then(({ errors }) => {
    throw new Error(`it ended before it said ${word}: ${errors}`);
  });
  end.catch(() => {});
  while (!lines().includes(word)) await Promise.race([once(child.stdout ?? child, 'data'), end]);
}

const SEND: ToolCall = { toolCallId: 'e', name: 'send', args: { text: 'x' } };
const LOOK: ToolCall = { toolCallId: 'l', name: 'look', args: { text: 'x' } };
const paid = () =>
  existsSync(join(folder, 'paid')) ? readFileSync(join(folder, 'paid'), 'utf8') : '';

/** Uses a session in this process, on a machine of its own. */
async function here<T>(use: (session: ToolSession) => Promise<T>): Promise<T> {
  const runtime = await createToolRuntime({
    home: homeOf(9),
    personality: 'coder',
    tools: createSessionTools(folder),
    ...(url !== undefined && { stores: createPostgresStores({ url, ...PATIENT_POSTGRES }) }),
  });
  try {
    return await use(runtime.session('s'));
  } finally {
    await runtime.close();
  }
}

const actHere = async (call: ToolCall) => (await here((session) => session.execute([call])))[0];

async function decide(approval: SessionResult['approval'], approved: boolean): Promise<void> {
  if (approval === undefined) throw new Error('nothing was asked');
  await here((session) => session.decide(approval, { approved }));
}

// The store decides who gets a claim, and what others know about reads. A check tests the rest with
// only one store.
const PLACES: [string, () => Promise<string | undefined>, boolean][] = [
  ['of one home', async () => undefined, true],
  ['of machines with one PostgreSQL', newPostgresDatabase, isLongRun()],
];
describe.each(inCheck(PLACES, ([, , isWhole]) => isWhole))(
  'a session in several processes %s',
  (_, database, isWhole) => {
    beforeEach(async () => {
      url = await database();
    });

    it('runs a call once for one approval, however many of them take it up', async () => {
      // An approval is for exactly the tool that asked. So a bundled process must ask, as it will run
      // the calls.
      const [asked] = await processes(1, [PAY]);
      expect(paid()).toBe('');
      await decide(asked?.approval, true);
      const results = await processes(MANY, [PAY], ATTEMPTS);
      expect(results).toHaveLength(MANY * ATTEMPTS);
      expect(results.filter(({ result }) => result.ok)).toHaveLength(1);
      expect(paid()).toBe('once\n');
    });

    it('names a call whose process was killed while it ran, and asks before it runs again', async () => {
      const killed = { ...PAY, toolCallId: 'k', args: { text: 'killed' } };
      const [asked] = await processes(1, [killed]);
      await decide(asked?.approval, true);
      const [running] = await begun(1, [killed]);
      await running?.ended;
      expect(running?.child.signalCode).toBe('SIGKILL');
      expect(paid()).toBe('killed\n');
      const unfinished = () => here((session) => session.unfinished());
      expect(await unfinished()).toMatchObject([{ toolCallId: 'k', toolName: 'pay' }]);
      const [again] = await processes(1, [killed]);
      expect(again?.approval?.reason).toContain('may have run');
      const { question } = asked?.approval ?? expect.fail('nothing was asked');
      expect(await here((session) => session.withdraw({ toolCallId: 'k', question }))).toBe(true);
      expect([await unfinished(), paid()]).toEqual([[], 'killed\n']);
    });

    it.runIf(isWhole)(
      'runs nothing that was refused, nor other arguments than were approved',
      async () => {
        const refused = { ...PAY, toolCallId: 'd' };
        const asked = await processes(1, [PAY, refused]);
        await decide(asked[0]?.approval, true);
        await decide(asked[1]?.approval, false);
        await processes(SOME, [{ ...PAY, args: { text: 'other' } }, refused], ATTEMPTS);
        expect(paid()).toBe('');
      },
    );

    it.runIf(isLongRun())(
      'asks before an effect once one of them has read, whichever acts',
      async () => {
        expect((await actHere(SEND))?.result.ok).toBe(true);
        await processes(SOME, [LOOK]);
        const results = [
          ...(await processes(SOME, [{ ...SEND, toolCallId: 'f' }])),
          await actHere({ ...SEND, toolCallId: 'g' }),
        ].flatMap((each) => each ?? []);
        expect(results.map(({ result }) => result.ok)).toEqual(Array(SOME + 1).fill(false));
        for (const { approval } of results) expect(approval?.reason).toContain('untrusted');
      },
    );

    it.runIf(isLongRun())(
      'asks about what others do while the turn of an agent goes on that has read',
      async () => {
        const { child, ended, lines } = await heldTurn(['page'], ['hold']);
        const asked = await actHere(SEND);
        expect(asked?.approval?.reason).toContain('the untrusted content is from page');
        child.kill('SIGUSR2');
        expect(await ended).toMatchObject({ code: 0 });
        expect(lines().at(-1)).toBe('answered');
      },
    );

    it.runIf(isWhole)('asks, too, once the process of that agent was killed', async () => {
      const { child, ended } = await heldTurn(['page'], ['hold']);
      child.kill('SIGKILL');
      await ended;
      const asked = await actHere(SEND);
      expect(asked?.approval?.reason).toContain('the untrusted content is from page');
    });

    it.runIf(isLongRun())(
      'asks about what an agent does after others have read, while its turn goes on',
      async () => {
        const { child, ended, lines } = await heldTurn(['hold'], ['send']);
        await actHere(LOOK);
        child.kill('SIGUSR2');
        expect(await ended).toMatchObject({ code: 0 });
        expect(lines().at(-1)).toBe('paused');
      },
    );
  },
);
