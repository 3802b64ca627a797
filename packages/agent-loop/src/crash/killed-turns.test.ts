import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunningScript } from '@ethosagent/conformance/attacks';
import { inCheck, isLongRun, tries } from '@ethosagent/test-support';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toolMessages } from '../sockets/fixtures/chat-request.js';
import { type ModelServer, startModelServer } from '../sockets/fixtures/model-server.js';
import type { ActInput } from './fixtures/act-options.js';
import { appends, works } from './fixtures/scripted-work.js';
import { type ActLine, executions, linesOf, startAct } from './fixtures/start-act.js';

const STEPS = [appends('a', 'b', 'c'), appends('d'), appends('e', 'f')];
const LINES = ['a', 'b', 'c', 'd', 'e', 'f'];
// The ids of the calls above.
const ID_OF: Record<string, string> = {
  ...{ a: 's0c0', b: 's0c1', c: 's0c2', d: 's1c0', e: 's2c0', f: 's2c1' },
};
const PROMPT = 'Write the lines.';

let folder: string;
let server: ModelServer;
const running: RunningScript[] = [];

function start(act: Omit<ActInput, 'folder' | 'baseURL'>): RunningScript {
  const script = startAct({ folder, baseURL: server.baseURL, ...act });
  running.push(script);
  return script;
}

async function act(what: Omit<ActInput, 'folder' | 'baseURL'>): Promise<ActLine[]> {
  return linesOf(start(what));
}

/**
 * Resumes until the turn has ended. If the first process died before anything was stored, no turn
 * had begun.
 */
async function finish(): Promise<ActLine | undefined> {
  let last: ActLine | undefined;
  for (let attempt = 0; attempt < 3; attempt++) {
    last = (await act({})).at(-1);
    if (last?.type === 'threw' && last.code === 'TURN_INVALID')
      last = (await act({ prompt: PROMPT })).at(-1);
    if (last?.type === 'done' && last.end === 'answered') break;
  }
  return last;
}

/**
 * Checks that every call ran at most once, that no call is reported that did not run, and that
 * every call was answered.
 */
function assertNothingTwice(last: ActLine | undefined): void {
  expect(last).toMatchObject({ type: 'done', end: 'answered', text: 'finished' });
  const ran = executions(folder);
  expect(ran).toEqual([...new Set(ran)]);
  expect(server.problems).toEqual([]);
  const told = new Map(
    toolMessages(server.requests.at(-1) ?? raise()).map(({ id, text }) => [id, text]),
  );
  for (const line of LINES) {
    const answer = told.get(ID_OF[line] ?? '') ?? raise();
    if (answer.includes(`wrote ${line}`)) expect(ran).toContain(line);
    else expect(answer).toMatch(/may have run/i);
  }
}

function raise(): never {
  throw new Error('the model was not told of a call');
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'agent-crash-'));
  server = await startModelServer(works(STEPS));
});
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
  await server.close();
  rmSync(folder, { recursive: true });
});

describe('a turn whose process is killed', () => {
  it.runIf(isLongRun())('is the same as one that was left alone, when it is', async () => {
    const lines = await act({ prompt: PROMPT });
    assertNothingTwice(lines.at(-1));
    expect(executions(folder)).toHaveLength(LINES.length);
  });

  // More appends than the turn has. At the last ones, nothing is killed. In a check, the store of
  // `broken-turns.test.ts` fails at each append.
  const moments = Array.from({ length: tries({ check: 1, long: 48 }) }, (_, at) => ({
    append: (at >> 1) + 1,
    when: (['before', 'after'] as const)[at % 2] ?? 'before',
  }));
  it.runIf(isLongRun()).each(moments)(
    '$when append $append runs no call twice',
    async (killAtAppend) => {
      await act({ prompt: PROMPT, killAtAppend });
      assertNothingTwice(await finish());
      // The calls that had not begun were run later.
      expect(executions(folder).length).toBeGreaterThanOrEqual(LINES.length - 3);
    },
  );

  const effects = [
    { line: 'b', when: 'after' },
    { line: 'd', when: 'before' },
  ] as const;
  it.each(inCheck(effects, ({ when }) => when === 'after'))(
    '$when $line is written says that it may have run',
    async (killAt) => {
      await act({ prompt: PROMPT, killAt });
      const wasWritten = executions(folder).includes(killAt.line);
      assertNothingTwice(await finish());
      expect(executions(folder).includes(killAt.line)).toBe(wasWritten);
      const told = toolMessages(server.requests.at(-1) ?? raise());
      expect(told.find(({ id }) => id === ID_OF[killAt.line])?.text).toMatch(/may have run/i);
    },
  );

  it.runIf(isLongRun())('at random moments, again and again, runs no call twice', async () => {
    await server.close();
    server = await startModelServer(works(STEPS, 3));
    for (let attempt = 0; attempt < tries({ check: 2, long: 100 }); attempt++) {
      const script = start({
        ...(attempt === 0 && { prompt: PROMPT }),
        pauseMs: 20,
      });
      // At a random moment of a whole turn, and a little later. The start of the process takes the
      // first half.
      await delay(Math.random() * 1_200);
      script.child.kill('SIGKILL');
      await script.ended;
    }
    assertNothingTwice(await finish());
  });
});

// A check has the two processes of `approvals.test.ts`.
describe.runIf(isLongRun())('a session that two processes resume at once', () => {
  it.each(Array.from({ length: tries({ check: 1, long: 50 }) }, (_, at) => at))(
    'goes on in one of them (%i)',
    async () => {
      await act({ prompt: PROMPT, killAt: { line: 'd', when: 'before' } });
      const both = [start({ pauseMs: 5 }), start({ pauseMs: 5 })];
      const ends = (await Promise.all(both.map(linesOf))).map((lines) => lines.at(-1));
      const answered = ends.filter((end) => end?.type === 'done' && end.end === 'answered');
      expect(answered.length, JSON.stringify(ends)).toBe(1);
      assertNothingTwice(answered[0]);
    },
  );
});
