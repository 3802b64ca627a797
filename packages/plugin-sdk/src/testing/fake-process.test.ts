import type {
  BackgroundProcesses,
  ProcessResult,
  ScopedProcess,
  ToolBatchContext,
} from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, ok } from '../tool-helpers.js';
import type { FakeBackgroundProcess } from './fake-background.js';
import { createFakeClock } from './fake-clock.js';
import type { ProcessTable } from './fake-process.js';
import { runTool } from './run-tool.js';
import { createTestContext } from './test-context.js';
import type { TestOptions } from './test-world.js';

const never = () => new Promise<Partial<ProcessResult>>(() => {});

function answerLater() {
  let resolve = (_answer: Partial<ProcessResult>) => {};
  const promise = new Promise<Partial<ProcessResult>>((settle) => {
    resolve = settle;
  });
  return { promise, resolve: (answer: Partial<ProcessResult>) => resolve(answer) };
}

function processesOf(options: TestOptions, allowedBinaries = ['npm', 'git']): ScopedProcess {
  const process = { allowedBinaries, background: true };
  const { scopedProcess } = createTestContext({ process }, options).ctx;
  if (scopedProcess === undefined) throw new Error('no scopedProcess');
  return scopedProcess;
}

function backgroundOf(options: TestOptions, allowedBinaries?: string[]): BackgroundProcesses {
  const { background } = processesOf(options, allowedBinaries);
  if (background === undefined) throw new Error('no background');
  return background;
}

describe('createFakeProcess spawn', () => {
  it('gives the output to onOutput, and waits for what it returns', async () => {
    const seen: string[] = [];
    const onOutput = async (text: string, stream: string) => {
      await Promise.resolve();
      seen.push(`${stream}: ${text}`);
    };
    const processes = { git: { stdout: 'one', stderr: 'two', exitCode: 3 }, npm: {} };
    const { spawn } = processesOf({ processes });
    expect(await spawn('git', [], { onOutput })).toEqual({
      exitCode: 3,
      stdout: 'one',
      stderr: 'two',
    });
    expect(seen).toEqual(['stdout: one', 'stderr: two']);
    await spawn('npm', [], { onOutput });
    expect(seen).toHaveLength(2);
  });

  it('throws what onOutput throws', async () => {
    const reason = new Error('enough');
    const { spawn } = processesOf({ processes: { git: { stdout: 'one' } } });
    const onOutput = () => Promise.reject(reason);
    await expect(spawn('git', [], { onOutput })).rejects.toBe(reason);
  });

  it.each([
    [{}, {}],
    [{ maxOutputBytes: 4 }, {}],
    [{ maxOutputBytes: -1 }, {}],
    [
      { maxOutputBytes: 2, overflow: 'drop' as const },
      { stdout: 'ü', truncated: true },
    ],
    [{ maxOutputBytes: 3 }, { stdout: 'üa', truncated: true, exitCode: 143, signal: 'SIGTERM' }],
    [
      { maxOutputBytes: 1, overflow: 'drop' as const },
      { stdout: '\uFFFD', stderr: 'e', truncated: true },
    ],
  ])('cuts the output for %j', async (opts, expected) => {
    let handedOn = '';
    const { spawn } = processesOf({ processes: { git: { stdout: 'üab', stderr: 'e' } } });
    const onOutput = (text: string) => {
      handedOn += text;
    };
    expect(await spawn('git', [], { ...opts, onOutput })).toEqual({
      exitCode: 0,
      stdout: 'üab',
      stderr: 'e',
      ...expected,
    });
    expect(handedOn).toBe('üabe');
  });
});

describe('createFakeProcess background', () => {
  it('is there for a tool that declares it, and no other', () => {
    const process = { allowedBinaries: ['npm'] };
    expect('background' in (createTestContext({ process }).ctx.scopedProcess ?? {})).toBe(false);
    expect(backgroundOf({})).toBeDefined();
  });

  it('runs until the answer settles, and keeps what it says', async () => {
    const { now, advance } = createFakeClock(1000);
    const { promise, resolve } = answerLater();
    const npm: ProcessTable[string] = async (_args, { onOutput }) => {
      await onOutput?.('listening\n', 'stdout');
      return promise;
    };
    const background = backgroundOf({ processes: { npm }, now });
    const started = await background.start('npm', ['start'], { cwd: '/w' });
    expect(started).toEqual({
      id: 'bg-1',
      binary: 'npm',
      args: ['start'],
      state: 'running',
      startedAt: 1000,
    });
    const first = await background.read('bg-1');
    expect(first).toEqual({
      process: started,
      chunks: [{ stream: 'stdout', text: 'listening\n' }],
      cursor: 10,
      droppedChars: 0,
    });
    advance(500);
    const waiting = background.read('bg-1', { cursor: 10, waitMs: 60_000 });
    resolve({ exitCode: 4, stdout: 'bye', stderr: 'oh' });
    expect((await waiting).chunks[0]).toEqual({ stream: 'stdout', text: 'bye' });
    await new Promise(setImmediate);
    expect(await background.read('bg-1', { cursor: 12, maxChars: 2 })).toEqual({
      process: { ...started, state: 'ended', endedAt: 1500, exitCode: 4 },
      chunks: [
        { stream: 'stdout', text: 'e' },
        { stream: 'stderr', text: 'o' },
      ],
      cursor: 14,
      droppedChars: 0,
    });
    expect(await background.stop('bg-1')).toMatchObject({ exitCode: 4 });
  });

  it('says why an answer failed', async () => {
    const npm = () => Promise.reject(new Error('no port'));
    const background = backgroundOf({ processes: { npm } });
    const { id } = await background.start('npm', []);
    const { process } = await background.read(id, { waitMs: 60_000 });
    expect(process).toMatchObject({ state: 'ended', error: 'no port' });
    expect(process).not.toHaveProperty('exitCode');
  });

  it('ends with stop, and what comes later is not heard', async () => {
    const { promise, resolve } = answerLater();
    const background = backgroundOf({ processes: { npm: () => promise } });
    const { id } = await background.start('npm', []);
    const ended = await background.stop(id);
    expect(ended).toMatchObject({ state: 'ended', exitCode: 143, signal: 'SIGTERM' });
    resolve({ stdout: 'late' });
    await new Promise(setImmediate);
    expect(await background.read(id)).toMatchObject({ process: ended, chunks: [] });
  });

  it('waits for output no longer than asked, or than the turn', async () => {
    const controller = new AbortController();
    const context: Partial<ToolBatchContext> = { abortSignal: controller.signal };
    const background = backgroundOf({ processes: { npm: never }, context });
    const { id } = await background.start('npm', []);
    expect(await background.read(id, { waitMs: 5 })).toMatchObject({ chunks: [] });
    const waiting = background.read(id, { waitMs: 60_000 });
    controller.abort();
    expect(await waiting).toMatchObject({ process: { state: 'running' } });
  });

  it('refuses what the real one refuses', async () => {
    const background = backgroundOf({ processes: { npm: never, rm: never } });
    await expect(background.start('rm', [])).rejects.toMatchObject({ code: 'BINARY_NOT_ALLOWED' });
    await expect(background.start('git', [])).rejects.toMatchObject({ code: 'SPAWN_FAILED' });
    for (const asked of [background.read('bg-1'), background.stop('bg-1')]) {
      await expect(asked).rejects.toMatchObject({ code: 'PROCESS_NOT_FOUND' });
    }
    for (let count = 0; count < 8; count += 1) await background.start('npm', []);
    const tooMany = { code: 'TOO_MANY_PROCESSES' };
    await expect(background.start('npm', [])).rejects.toMatchObject(tooMany);
    await background.stop('bg-3');
    expect(await background.start('npm', [])).toMatchObject({ id: 'bg-9' });
    expect(await background.list()).toHaveLength(9);
  });

  it('shows the processes of the session and personality whose binary is declared', async () => {
    const shared: FakeBackgroundProcess[] = [];
    const options = (sessionId: string, personalityId: string) => ({
      background: shared,
      processes: { npm: never },
      context: { sessionId, personalityId },
    });
    await backgroundOf(options('s', 'p')).start('npm', []);
    const seenBy = async (...args: Parameters<typeof backgroundOf>) =>
      (await backgroundOf(...args).list()).map(({ id }) => id);
    expect(await seenBy(options('s', 'p'))).toEqual(['bg-1']);
    expect(await seenBy(options('s', 'p'), ['*'])).toEqual(['bg-1']);
    expect(await seenBy(options('s', 'p'), ['git'])).toEqual([]);
    expect(await seenBy(options('s', 'other'))).toEqual([]);
    expect(await seenBy(options('other', 'p'))).toEqual([]);
  });
});

const serve = defineTool({
  name: 'serve',
  description: 'Start a server, or say what it wrote.',
  input: z.object({ id: z.string().optional() }),
  capabilities: { process: { allowedBinaries: ['npm'], background: true } },
  async execute({ id }, { scopedProcess: { background } }) {
    if (id === undefined) return ok((await background.start('npm', ['start'])).id);
    const { process, chunks } = await background.read(id);
    return ok(`${process.state} ${chunks.map(({ text }) => text).join('')}`);
  },
});

describe('runTool with background processes', () => {
  it('keeps them from one run to the next, for the test to go on with', async () => {
    const { result, background, spawned, audit } = await runTool(
      serve,
      {},
      { processes: { npm: never } },
    );
    expect(result).toEqual(ok('bg-1'));
    expect(spawned).toEqual([{ binary: 'npm', args: ['start'], opts: {} }]);
    expect(audit).toMatchObject([{ operation: 'start', target: 'npm', decision: 'allowed' }]);
    background[0]?.write('up');
    const read = async () => (await runTool(serve, { id: 'bg-1' }, { background })).result;
    expect(await read()).toEqual(ok('running up'));
    background[0]?.end({ exitCode: 1 });
    background[0]?.write('more');
    expect(await read()).toEqual(ok('ended up'));
    expect(background[0]?.info).toMatchObject({ exitCode: 1 });
  });

  it('audits a denial', async () => {
    const { background } = await runTool(serve, {}, { processes: { npm: never } });
    for (let count = 0; count < 8; count += 1) {
      const { audit } = await runTool(serve, {}, { background, processes: { npm: never } });
      if (count < 7) continue;
      expect(audit).toMatchObject([
        { operation: 'start', decision: 'denied', reason: 'at most 8 background processes' },
      ]);
    }
    const { result } = await runTool(serve, { id: 'bg-1' });
    expect(result).toMatchObject({ error: expect.stringContaining('PROCESS_NOT_FOUND') });
  });
});
