import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunningScript } from '@ethosagent/conformance/attacks';
import { isLongRun } from '@ethosagent/test-support';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { toolMessages } from '../sockets/fixtures/chat-request.js';
import { type ModelServer, startModelServer } from '../sockets/fixtures/model-server.js';
import type { ActInput } from './fixtures/act-options.js';
import { works } from './fixtures/scripted-work.js';
import { type ActLine, executions, linesOf, startAct } from './fixtures/start-act.js';

const guarded = (line: string) => ({ name: 'guarded', args: { line } });
const STEPS = [[guarded('x'), { name: 'append', args: { line: 'y' } }]];

let folder: string;
let server: ModelServer;
const running: RunningScript[] = [];

async function act(what: Omit<ActInput, 'folder' | 'baseURL'>): Promise<ActLine | undefined> {
  const script = startAct({ folder, baseURL: server.baseURL, ...what });
  running.push(script);
  return (await linesOf(script)).at(-1);
}

const told = () =>
  toolMessages(server.requests.at(-1) ?? { messages: [], model: '', headers: {}, at: 0 });

// A session in which a process asks and then ends. Each test continues with a copy of it.
let paused: string;
beforeAll(async () => {
  paused = mkdtempSync(join(tmpdir(), 'agent-paused-'));
  folder = paused;
  server = await startModelServer(works(STEPS));
  expect(await act({ prompt: 'Write.' })).toMatchObject({
    end: 'paused',
    approvals: [
      { toolCallId: 's0c0', toolName: 'guarded', args: { line: 'x' }, reason: 'appends x' },
    ],
  });
  // The calls other than the waiting one have run.
  expect(executions(folder)).toEqual(['y']);
  await server.close();
});
afterAll(() => rmSync(paused, { recursive: true }));

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'agent-approvals-'));
  cpSync(paused, folder, { recursive: true });
  server = await startModelServer(works(STEPS));
});
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
  expect(server.problems).toEqual([]);
  await server.close();
  rmSync(folder, { recursive: true });
});

describe('a call that one process asks about', () => {
  it.runIf(isLongRun())('is decided by a second, and run by a third', async () => {
    expect(await act({ decide: true })).toMatchObject({ type: 'decided' });
    expect(executions(folder)).toEqual(['y']);
    expect(await act({})).toMatchObject({ end: 'answered', text: 'finished' });
    expect(executions(folder)).toEqual(['y', 'x']);
    expect(told().map(({ text }) => text)).toEqual(['wrote x', 'wrote y']);
  });

  it.runIf(isLongRun())('is refused by a second, and the model told by a third', async () => {
    await act({ decide: false });
    expect(await act({})).toMatchObject({ end: 'answered' });
    expect(executions(folder)).toEqual(['y']);
    expect(told()[0]?.text).toMatch(/not approved|refused|denied|declined/i);
  });

  it.runIf(isLongRun())(
    'is not run, nor asked of the model, while nobody has decided',
    async () => {
      expect(await act({})).toMatchObject({ end: 'paused' });
      expect(executions(folder)).toEqual(['y']);
      expect(server.requests).toEqual([]);
    },
  );

  it.runIf(isLongRun())('runs once when it is decided twice and resumed twice', async () => {
    await act({ decide: true });
    await act({ decide: true });
    await act({});
    expect(await act({})).toMatchObject({ type: 'threw', code: 'TURN_INVALID' });
    expect(executions(folder)).toEqual(['y', 'x']);
  });

  it('runs once when two resume at once', async () => {
    expect(await act({ decide: true })).toMatchObject({ type: 'decided' });
    expect(executions(folder)).toEqual(['y']);
    const ends = await Promise.all([act({}), act({})]);
    expect(ends).toContainEqual(expect.objectContaining({ end: 'answered', text: 'finished' }));
    expect(executions(folder)).toEqual(['y', 'x']);
  });

  it.runIf(isLongRun())('is asked again when what would run has another reason now', async () => {
    await act({ decide: true });
    expect(await act({ reason: 'deletes' })).toMatchObject({
      end: 'paused',
      approvals: [{ reason: 'deletes x' }],
    });
    expect(executions(folder)).toEqual(['y']);
    await act({ decide: true });
    await act({ reason: 'deletes' });
    expect(executions(folder)).toEqual(['y', 'x']);
  });

  it.runIf(isLongRun())('is asked again when another tool has its name now', async () => {
    await act({ decide: true });
    const description = 'Deletes everything.';
    expect(await act({ description })).toMatchObject({
      end: 'paused',
      approvals: [{ toolName: 'guarded' }],
    });
    expect(executions(folder)).toEqual(['y']);
    await act({ decide: true });
    expect(await act({ description })).toMatchObject({ end: 'answered' });
    expect(executions(folder)).toEqual(['y', 'x']);
  });

  it.runIf(isLongRun())('is not run when the personality has lost the tool', async () => {
    await act({ decide: true });
    expect(await act({ personality: { toolset: ['append'] } })).toMatchObject({ end: 'answered' });
    expect(executions(folder)).toEqual(['y']);
    expect(told()).toHaveLength(2);
  });

  it.runIf(isLongRun()).each(['before', 'after'] as const)(
    'and that dies %s it is written is not run again',
    async (when) => {
      await act({ decide: true });
      await act({ killAt: { line: 'x', when } });
      const ran = executions(folder);
      expect(ran).toEqual(when === 'before' ? ['y'] : ['y', 'x']);
      expect(await act({})).toMatchObject({ end: 'answered' });
      expect(executions(folder)).toEqual(ran);
      expect(told()[0]?.text).toMatch(/may have run/i);
    },
  );

  it.runIf(isLongRun()).each([1, 2, 3, 4, 5, 6])(
    'and that dies around append %i of its resume runs once at most',
    async (append) => {
      await act({ decide: true });
      await act({ killAtAppend: { append, when: append % 2 === 0 ? 'before' : 'after' } });
      await act({});
      const ran = executions(folder);
      expect(ran).toEqual([...new Set(ran)]);
      if (!ran.includes('x')) expect(told()[0]?.text).toMatch(/may have run/i);
    },
  );
});
