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
import type { SessionResult } from '@ethosagent/core';
import { createPostgresStores } from '@ethosagent/storage-postgres';
import { bundleScript, isLongRun, newPostgresDatabase, tries } from '@ethosagent/test-support';
import type { ToolCall } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const agentScript = await bundleScript(new URL('./fixtures/act-as-agent.ts', import.meta.url));
const script = await bundleScript(new URL('./fixtures/act-in-session.ts', import.meta.url));
const PAY: ToolCall = { toolCallId: 'c', name: 'pay', args: { text: 'once' } };
const ATTEMPTS = tries({ check: 3, long: 5 });

let folder: string;
let started: RunningScript[];
/** Where the sessions are, when each process has a home of its own. */
let url: string | undefined;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'processes-')));
  started = [];
  url = undefined;
});

/** The home that all processes share; with a database, one of a machine's own. */
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

/** Processes that are ready, and begin at once. */
async function processes(
  count: number,
  calls: readonly ToolCall[],
  attempts = 1,
): Promise<SessionResult[]> {
  const work = [JSON.stringify(calls), String(attempts), ...(url === undefined ? [] : [url])];
  const running = Array.from({ length: count }, (_, machine) =>
    startScript(script, { args: [folder, homeOf(machine), ...work] }),
  );
  started.push(...running);
  for (const each of running) await saying(each, 'ready');
  for (const { child } of running) child.kill('SIGUSR2');
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
/** A turn of an agent in a process of its own, up to its tool `hold`. */
async function heldTurn(...steps: string[][]): Promise<RunningScript> {
  const args = [homeOf(8), JSON.stringify(steps), ...(url === undefined ? [] : [url])];
  const running = startScript(agentScript, { args });
  started.push(running);
  await saying(running, 'holding');
  return running;
}

/** Waits until a process says a word; throws with its errors where it ends before. */
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

/** As somebody who decides, in a process of this test's own. */
async function decide(approval: SessionResult['approval'], approved: boolean): Promise<void> {
  const { createToolRuntime } = await import('./tool-runtime.js');
  const runtime = await createToolRuntime({
    home: homeOf(9),
    personality: 'coder',
    tools: [],
    ...(url !== undefined && { stores: createPostgresStores(url) }),
  });
  try {
    if (approval === undefined) throw new Error('nothing was asked');
    await runtime.session('s').decide(approval, { approved });
  } finally {
    await runtime.close();
  }
}

// Which store it is decides who gets a claim, and what others know of what was read. The rest is
// seen once in a check.
const PLACES: [string, () => Promise<string | undefined>, boolean][] = [
  ['of one home', async () => undefined, true],
  ['of machines with one PostgreSQL', newPostgresDatabase, isLongRun()],
];
describe.each(PLACES)('a session in several processes %s', (_, database, isWhole) => {
  beforeEach(async () => {
    url = await database();
  });

  it('runs a call once for one approval, however many of them take it up', async () => {
    const [{ approval } = {}] = await processes(1, [PAY]);
    expect(paid()).toBe('');
    await decide(approval, true);
    const results = await processes(3, [PAY], ATTEMPTS);
    expect(results).toHaveLength(3 * ATTEMPTS);
    expect(results.filter(({ result }) => result.ok)).toHaveLength(1);
    expect(paid()).toBe('once\n');
  });

  it.runIf(isWhole)(
    'runs nothing that was refused, nor other arguments than were approved',
    async () => {
      const [{ approval } = {}] = await processes(1, [PAY]);
      await decide(approval, true);
      await processes(2, [{ ...PAY, args: { text: 'other' } }], ATTEMPTS);
      expect(paid()).toBe('');
      const [again] = await processes(1, [{ ...PAY, toolCallId: 'd' }]);
      await decide(again?.approval, false);
      await processes(2, [{ ...PAY, toolCallId: 'd' }]);
      expect(paid()).toBe('');
    },
  );

  it('asks before an effect once one of them has read, whichever acts', async () => {
    const [free] = await processes(1, [SEND]);
    expect(free?.result.ok).toBe(true);
    await processes(2, [LOOK]);
    const results = await processes(2, [{ ...SEND, toolCallId: 'f' }]);
    expect(results.map(({ result }) => result.ok)).toEqual([false, false]);
    for (const { approval } of results) expect(approval?.reason).toContain('untrusted');
  });

  it('asks about what others do while the turn of an agent goes on that has read', async () => {
    const { child, ended, lines } = await heldTurn(['page'], ['hold']);
    const [asked] = await processes(1, [SEND]);
    expect(asked?.approval?.reason).toContain('the untrusted content is from page');
    child.kill('SIGUSR2');
    expect(await ended).toMatchObject({ code: 0 });
    expect(lines().at(-1)).toBe('answered');
  });

  it.runIf(isWhole)('asks, too, once the process of that agent was killed', async () => {
    const { child, ended } = await heldTurn(['page'], ['hold']);
    child.kill('SIGKILL');
    await ended;
    const [asked] = await processes(1, [SEND]);
    expect(asked?.approval?.reason).toContain('the untrusted content is from page');
  });

  it.runIf(isWhole)(
    'asks about what an agent does after others have read, while its turn goes on',
    async () => {
      const { child, ended, lines } = await heldTurn(['hold'], ['send']);
      await processes(1, [LOOK]);
      child.kill('SIGUSR2');
      expect(await ended).toMatchObject({ code: 0 });
      expect(lines().at(-1)).toBe('paused');
    },
  );
});
