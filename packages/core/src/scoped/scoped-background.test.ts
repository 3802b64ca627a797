import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BackgroundProcessTable } from '@ethosagent/process';
import {
  type AuditEvent,
  type BackgroundProcess,
  type BackgroundProcesses,
  errorCodeOf,
  type ToolBatchContext,
  type ToolContext,
} from '@ethosagent/types';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CapabilityBackends } from '../backends.js';
import type { ToolRegistryOptions } from '../batch/batch.js';
import type { CallHooks } from '../call-hooks.js';
import type { CallNarrowing } from '../call-narrowing.js';
import { CallScope } from '../call-scope.js';
import { makeTool, ok, runOne } from '../testing/batch.js';
import { DefaultToolRegistry } from '../tool-registry.js';
import { ScopedBackgroundImpl } from './scoped-background.js';
import { ScopedProcessImpl } from './scoped-process.js';

/** The live processes whose command line contains the mark. */
function survivors(mark: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
    } catch {
      return false;
    }
  });
}

const opened: DefaultToolRegistry[] = [];
afterEach(async () => {
  for (const registry of opened.splice(0)) await registry.endAllSessions();
});

/** A registry, and a function that uses the background accessor in a call. */
function world(backends: CapabilityBackends = {}, options: ToolRegistryOptions & CallHooks = {}) {
  const events: AuditEvent[] = [];
  const registry = new DefaultToolRegistry(
    { ...backends, audit: { record: (event) => events.push(event) } },
    undefined,
    options,
  );
  opened.push(registry);
  let number = 0;
  const use = async <T>(
    run: (background: BackgroundProcesses) => Promise<T>,
    ctx: Partial<ToolBatchContext> = {},
    allowedBinaries = ['sh'],
  ): Promise<T> => {
    const name = `tool_${++number}`;
    let outcome: { value: T } | { error: unknown } | undefined;
    const tool = makeTool(
      name,
      async (_args, { scopedProcess }) => {
        try {
          if (scopedProcess?.background === undefined) throw new Error('no background');
          outcome = { value: await run(scopedProcess.background) };
        } catch (error) {
          outcome = { error };
        }
        return ok('done');
      },
      { capabilities: { process: { allowedBinaries, background: true } } },
    );
    registry.register(tool);
    const result = await runOne(registry, name, {}, ctx);
    if (outcome === undefined) throw new Error(JSON.stringify(result));
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  };
  const start = (program: string, ctx?: Partial<ToolBatchContext>) =>
    use((background) => background.start('sh', ['-c', program]), ctx);
  const codeOf = (
    run: (background: BackgroundProcesses) => Promise<unknown>,
    ctx?: Partial<ToolBatchContext>,
    allowedBinaries?: string[],
  ) =>
    use(run, ctx, allowedBinaries).then(
      () => 'no error',
      (error: unknown) => errorCodeOf(error),
    );
  return { registry, events, use, start, codeOf };
}

const textOf = (chunks: readonly { text: string }[]) => chunks.map(({ text }) => text).join('');

async function untilEnded(use: ReturnType<typeof world>['use'], { id }: BackgroundProcess) {
  for (let cursor = 0; ; ) {
    const output = await use((background) => background.read(id, { cursor, waitMs: 10_000 }));
    if (output.process.state === 'ended') return output.process;
    cursor = output.cursor;
  }
}

describe('ScopedBackgroundImpl', () => {
  it('leaves a process running after its call, and later calls read on where they were', async () => {
    const { start, use } = world();
    const process = await start('echo one; read -r x < /dev/null; sleep 0.3; echo two >&2; exit 3');
    expect(process).toMatchObject({ id: 'bg-1', binary: 'sh', state: 'running' });
    const first = await use((background) => background.read('bg-1', { waitMs: 10_000 }));
    expect(first.chunks).toEqual([{ stream: 'stdout', text: 'one\n' }]);
    const ended = await untilEnded(use, process);
    expect(ended).toMatchObject({ state: 'ended', exitCode: 3 });
    const { cursor } = first;
    const rest = await use((background) => background.read('bg-1', { cursor }));
    expect(rest.chunks).toEqual([{ stream: 'stderr', text: 'two\n' }]);
    expect(rest.droppedChars).toBe(0);
  });

  it('has a read wait for output, for the end, and no longer than the call', async () => {
    const { start, use } = world();
    await start('sleep 30');
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 200);
    const result = use((background) => background.read('bg-1', { waitMs: 60_000 }), {
      abortSignal: controller.signal,
    });
    await expect(result).rejects.toThrow();
  });

  it('stops a whole tree and says how it ended', async () => {
    const mark = randomUUID();
    const { use } = world();
    const program =
      'trap "" TERM; sh -c "trap \\"\\" TERM; while :; do sleep 0.05; done" $1 & wait';
    await use((background) => background.start('sh', ['-c', program, 'sh', mark]));
    await expect.poll(() => survivors(mark).length, { timeout: 60_000 }).toBe(2);
    const stopped = await use((background) => background.stop('bg-1'));
    expect(stopped).toMatchObject({ state: 'ended', signal: 'SIGKILL' });
    expect(survivors(mark)).toEqual([]);
  });

  it.each<[string, (registry: DefaultToolRegistry) => Promise<void>]>([
    ['endSession', (registry) => registry.endSession('session-1')],
    ['endAllSessions', (registry) => registry.endAllSessions()],
  ])('%s ends every process of the session, daemons too', async (_name, end) => {
    const mark = randomUUID();
    const { registry, use } = world();
    const daemon = '(setsid sh -c "sleep 60; :" "$1" >/dev/null 2>&1 &) ; sleep 60; :';
    const program = `exec -a ${mark} sleep 60`;
    await use((background) => background.start('bash', ['-c', program]), {}, ['bash']);
    await use((background) => background.start('sh', ['-c', daemon, 'sh', mark]));
    await expect.poll(() => survivors(mark).length, { timeout: 5_000 }).toBe(3);
    await end(registry);
    expect(await use((background) => background.list())).toEqual([]);
    // A process that left its group and its shell is found by its tag, a moment later.
    await expect.poll(() => survivors(mark), { timeout: 5_000 }).toEqual([]);
  });

  it('ends those of a personality that has changed, of all sessions and of sub-agents', async () => {
    const { registry, start, use } = world();
    const places = [
      { sessionId: 's1', personalityId: 'p' },
      { sessionId: 's2', personalityId: 'p' },
      { sessionId: 's2', personalityId: 'other/p' },
      { sessionId: 's2', personalityId: 'other' },
      { sessionId: 's3' },
    ];
    for (const ctx of places) await start('sleep 60', ctx);
    await registry.endPersonality('p');
    const states = places.map(async (ctx) => {
      const [first] = await use((background) => background.list(), ctx);
      return [first?.state, first?.error];
    });
    const ended = ['ended', 'the personality has changed'];
    const runs = ['running', undefined];
    expect(await Promise.all(states)).toEqual([ended, ended, ended, runs, runs]);
  });

  it('starts none with a reach that was taken from its call meanwhile', async () => {
    let limits = { processes: 5 };
    const { codeOf, events, start, use } = world({
      personalityProcess: () => ({ sandbox: 'preferred', limits }),
    });
    const late = codeOf(async (background) => {
      limits = { processes: 4 };
      await background.start('sh', ['-c', 'sleep 60']);
    });
    expect(await late).toBe('CALL_ENDED');
    expect(events.at(-1)).toMatchObject({ decision: 'denied', reason: 'reach changed' });
    expect(await use((background) => background.list())).toEqual([]);
    expect(await start('sleep 60')).toMatchObject({ state: 'running' });
  });

  it('gives a narrowed call only those that were started by one as narrow', async () => {
    let narrow: CallNarrowing | undefined;
    const { codeOf, start, use } = world({}, { beforeCall: () => narrow && { narrow } });
    const read = (id: string) => codeOf((background) => background.read(id));
    const write = (id: string) => codeOf((background) => background.write(id, 'x'));
    await start('echo wide; sleep 60');
    narrow = { write: [] };
    await start('echo narrow; sleep 60');
    expect([await read('bg-1'), await write('bg-1')]).toEqual(Array(2).fill('PROCESS_NOT_FOUND'));
    // It was started without an open input.
    expect([await read('bg-2'), await write('bg-2')]).toEqual(['no error', 'PROCESS_ENDED']);
    narrow = { write: [], hosts: [] };
    expect([await read('bg-2'), await write('bg-2')]).toEqual(Array(2).fill('PROCESS_NOT_FOUND'));
    expect(await use((background) => background.stop('bg-1'))).toMatchObject({ state: 'ended' });
    narrow = undefined;
    expect([await read('bg-1'), await read('bg-2')]).toEqual(Array(2).fill('no error'));
  });

  it('ends one at its time-out and at its quota', async () => {
    const { use } = world();
    const timed = await use((background) =>
      background.start('sh', ['-c', 'sleep 30'], { timeout: 100 }),
    );
    expect(await untilEnded(use, timed)).toMatchObject({ timedOut: true, signal: 'SIGTERM' });
    const capped = world({ personalityQuotas: { per_session: { process_seconds: 0.5 } } });
    const started = await capped.use((background) => background.start('sh', ['-c', 'sleep 30']));
    expect((await untilEnded(capped.use, started)).error).toContain('QUOTA_EXCEEDED');
  });

  it('keeps the newest output of an endless one, and says how much is gone', async () => {
    const { use } = world();
    await use((background) => background.start('sh', ['-c', 'yes 0123456789 | head -c 3000000']));
    await untilEnded(
      use,
      await use(async (background) => (await background.list())[0] ?? expect.fail()),
    );
    const { chunks, droppedChars, cursor } = await use((background) =>
      background.read('bg-1', { cursor: 5, maxChars: 10_000_000 }),
    );
    const kept = textOf(chunks).length;
    expect(kept).toBeLessThan(1_100_000);
    expect(kept).toBeGreaterThan(900_000);
    expect(droppedChars + kept + 5).toBe(3_000_000);
    expect(cursor).toBe(3_000_000);
  });

  it('gives what is read in parts without loss', async () => {
    const { use } = world();
    await use((background) =>
      background.start('sh', [
        '-c',
        'i=0; while [ $i -lt 500 ]; do echo "é😀$i"; i=$((i+1)); done',
      ]),
    );
    await untilEnded(
      use,
      await use(async (background) => (await background.list())[0] ?? expect.fail()),
    );
    const whole = await use((background) => background.read('bg-1'));
    let text = '';
    for (let cursor = 0; cursor < whole.cursor; ) {
      const part = await use((background) => background.read('bg-1', { cursor, maxChars: 7 }));
      expect(part.cursor).toBeGreaterThan(cursor);
      text += textOf(part.chunks);
      cursor = part.cursor;
    }
    expect(text).toBe(textOf(whole.chunks));
  });

  const other = { sessionId: 'session-2' };
  it('refuses what is not declared, and another session, personality or binary', async () => {
    const { start, codeOf, use } = world();
    await start('sleep 30', { personalityId: 'coder' });
    const coder = { personalityId: 'coder' };
    const rows: [string, Promise<unknown>, string][] = [
      ['another binary', codeOf((b) => b.start('ls', []), coder), 'BINARY_NOT_ALLOWED'],
      [
        'another session',
        codeOf((b) => b.read('bg-1'), { ...coder, ...other }),
        'PROCESS_NOT_FOUND',
      ],
      [
        'another personality',
        codeOf((b) => b.stop('bg-1'), { personalityId: 'x' }),
        'PROCESS_NOT_FOUND',
      ],
      ['no personality', codeOf((b) => b.read('bg-1')), 'PROCESS_NOT_FOUND'],
      [
        'a tool of another binary',
        codeOf((b) => b.read('bg-1'), coder, ['ls']),
        'PROCESS_NOT_FOUND',
      ],
      ['an invalid id', codeOf((b) => b.read('../bg-1'), coder), 'PROCESS_NOT_FOUND'],
    ];
    for (const [name, code, expected] of rows) expect([name, await code]).toEqual([name, expected]);
    expect(await use((b) => b.list(), coder, ['ls'])).toEqual([]);
    expect(await use((b) => b.list(), coder)).toMatchObject([{ id: 'bg-1', state: 'running' }]);
  });

  it('refuses more than may run at once, also of those that start together, and says so in the audit', async () => {
    const { use, events, codeOf } = world({}, { maxBackgroundProcesses: 2 });
    const started = await use((background) =>
      Promise.allSettled([1, 2, 3, 4].map(() => background.start('sh', ['-c', 'sleep 30']))),
    );
    expect(started.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ]);
    expect(events.filter(({ decision }) => decision === 'denied')).toMatchObject([
      { operation: 'start', target: 'sh', reason: 'at most 2 background processes' },
      { operation: 'start', target: 'sh', reason: 'at most 2 background processes' },
    ]);
    await use((background) => background.stop('bg-1'));
    expect(await codeOf((background) => background.start('sh', ['-c', 'sleep 30']))).toBe(
      'no error',
    );
  });

  it('starts nothing once the call has ended, and leaves nothing that the abort overtook', async () => {
    const { registry, use } = world();
    const mark = randomUUID();
    let kept: BackgroundProcesses | undefined;
    await use(async (background) => {
      kept = background;
    });
    const late = kept?.start('sh', ['-c', 'sleep 30', mark]);
    await expect(late).rejects.toMatchObject({ code: 'CALL_ENDED' });
    const controller = new AbortController();
    const overtaken = use(
      (background) => {
        const starting = background.start('sh', ['-c', 'sleep 30; :', mark]);
        controller.abort();
        return starting;
      },
      { abortSignal: controller.signal },
    );
    await overtaken.catch(() => {});
    await expect.poll(() => survivors(mark), { timeout: 5_000 }).toEqual([]);
    await registry.endAllSessions();
  });

  it('runs in the sandbox that the personality asks for, and ends with it', async () => {
    const { use } = world({ personalityProcess: { sandbox: 'required' } });
    const process = await use((background) =>
      background.start('sh', ['-c', 'ls /root /home 2>&1; echo pid $$; sleep 30']),
    );
    await expect
      .poll(async () => textOf((await use((b) => b.read(process.id))).chunks), { timeout: 600_000 })
      .toMatch(/No such file[\s\S]*pid/);
    expect(await use((background) => background.stop(process.id))).toMatchObject({
      state: 'ended',
    });
  });

  it('is absent from a tool that does not declare it', async () => {
    const registry = new DefaultToolRegistry({});
    let background: unknown = 'not run';
    registry.register(
      makeTool(
        'plain',
        (_args, ctx) => {
          background = ctx.scopedProcess?.background;
          return ok('');
        },
        { capabilities: { process: { allowedBinaries: ['sh'] } } },
      ),
    );
    await runOne(registry, 'plain');
    expect(background).toBeUndefined();
  });

  it('waits for ends that are under way already', async () => {
    const mark = randomUUID();
    const { registry, use } = world();
    const program = 'trap "" TERM; echo ready; while :; do sleep 0.05; done';
    await use((background) => background.start('sh', ['-c', program, mark]));
    await use((background) => background.read('bg-1', { waitMs: 10_000 }));
    void registry.endSession('session-1');
    await registry.endAllSessions();
    expect(survivors(mark)).toEqual([]);
  });

  it('does not stop what has ended: its id may be the id of another now', async () => {
    const { use } = world();
    await untilEnded(use, await use((background) => background.start('sh', ['-c', 'exit 0'])));
    const kill = vi.spyOn(process, 'kill');
    try {
      const stopped = await use((background) => background.stop('bg-1'));
      expect(stopped).toMatchObject({ state: 'ended', exitCode: 0 });
      expect(kill.mock.calls.filter(([pid]) => pid < 0)).toEqual([]);
    } finally {
      kill.mockRestore();
    }
  });

  it.each<[string, (call: CallScope, table: BackgroundProcessTable) => unknown]>([
    ['the end of its call', (call) => call.end()],
    ['an abort', (call) => call.abort(new Error('stop'))],
    ['the end of its session', (_call, table) => table.end('s')],
  ])('starts nothing that %s overtook', async (_name, overtake) => {
    const journal = { sessionId: 's', personalityId: undefined, audit: undefined, now: Date.now };
    const call = new CallScope(journal, { toolName: 'tool', toolCallId: 'call' });
    const table = new BackgroundProcessTable(8);
    const folder = mkdtempSync(join(tmpdir(), 'background-'));
    let overtaken: unknown;
    const background = new ScopedBackgroundImpl({
      allowed: new Set(['sh']),
      personalityId: undefined,
      find: () => table.find('s'),
      open: () => table.open('s'),
      isCurrent: () => true,
      narrowing: undefined,
      openScope: () =>
        new CallScope(journal, { toolName: 'tool', toolCallId: 'call', parent: call }),
      launcher: (scope) => {
        // The call has passed its own checks.
        overtaken = overtake(call, table);
        return new ScopedProcessImpl(new Set(['sh']), { scope });
      },
      now: Date.now,
      scope: call,
    });
    const started = background.start('sh', ['-c', `echo x > ${join(folder, 'done')}`]);
    await expect(started).rejects.toMatchObject({ code: 'CALL_ENDED' });
    await overtaken;
    expect(existsSync(join(folder, 'done'))).toBe(false);
    expect(table.find('s')?.list() ?? []).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  it('stops nothing that can not be recorded', async () => {
    const { registry, events, use } = world();
    await use((background) => background.start('sh', ['-c', 'sleep 30']));
    const record = vi.spyOn(events, 'push').mockImplementation(() => {
      throw new Error('full');
    });
    await expect(use((background) => background.stop('bg-1'))).rejects.toMatchObject({
      code: 'AUDIT_FAILED',
    });
    record.mockRestore();
    const [process] = await use((background) => background.list());
    expect(process).toMatchObject({ state: 'running' });
    await registry.endAllSessions();
  });

  it('records a look at the process of another as denied', async () => {
    const { events, start, codeOf } = world();
    await start('sleep 30', { personalityId: 'a' });
    await codeOf((background) => background.stop('bg-1'), { personalityId: 'b' });
    expect(events.at(-1)).toMatchObject({ operation: 'stop', target: 'bg-1', decision: 'denied' });
  });

  it('keeps a secret of the starting call out of the journal, of lists and of what is read', async () => {
    const events: AuditEvent[] = [];
    const registry = new DefaultToolRegistry({
      secretsBackend: async () => 'hunter2-secret',
      audit: { record: (event) => events.push(event) },
    });
    opened.push(registry);
    const capabilities = {
      process: { allowedBinaries: ['*'], background: true },
      secrets: ['api/key'],
    };
    const seen: unknown[] = [];
    const register = (name: string, run: (ctx: ToolContext) => Promise<unknown>) =>
      registry.register(
        makeTool(
          name,
          async (_args, ctx) => {
            seen.push(await run(ctx).catch((error: unknown) => String(error)));
            return ok('');
          },
          { capabilities },
        ),
      );
    register('start', async ({ secretsResolver, scopedProcess }) => {
      const key = await secretsResolver?.get('api/key');
      await scopedProcess?.background?.start(`${key}`, []).catch(() => {});
      return scopedProcess?.background?.start('sh', ['-c', `echo ${key}; sleep 30`]);
    });
    register('look', async ({ scopedProcess }) => [
      await scopedProcess?.background?.read('bg-2', { waitMs: 10_000 }),
      await scopedProcess?.background?.list(),
    ]);
    await runOne(registry, 'start');
    await runOne(registry, 'look');
    expect(JSON.stringify(seen)).toContain('[secret:api/key]');
    expect(JSON.stringify([seen, events])).not.toContain('hunter2');
  });

  it('hides a secret that a later call gives to a process which repeats it', async () => {
    const { use, registry } = world({ secretsBackend: async () => 'hunter2-secret' });
    const login = makeTool(
      'login',
      async (_args, { secretsResolver, scopedProcess }) => {
        const key = await secretsResolver?.get('api/key');
        await scopedProcess?.background?.write('bg-1', `key ${key}\n`);
        return ok('');
      },
      {
        capabilities: {
          process: { allowedBinaries: ['sh'], background: true },
          secrets: ['api/key'],
        },
      },
    );
    registry.register(login);
    const script = 'while read -r line; do echo "got $line"; done';
    await use((background) => background.start('sh', ['-c', script], { keepsInput: true }));
    for (let cursor = 0, round = 0; round < 2; round++) {
      await runOne(registry, 'login');
      const read = await use((background) => background.read('bg-1', { cursor, waitMs: 20_000 }));
      expect(textOf(read.chunks)).toBe('got key [secret:api/key]\n');
      cursor = read.cursor;
    }
  });

  it('hides the secrets that several later calls give to a process', async () => {
    const { use, registry } = world({ secretsBackend: async (ref) => `hunter2-of-${ref}` });
    const script = 'read -r one; read -r two; echo "$one and $two"';
    await use((background) => background.start('sh', ['-c', script], { keepsInput: true }));
    for (const ref of ['api/first', 'api/second']) {
      const login = makeTool(
        `login-${ref.slice(4)}`,
        async (_args, { secretsResolver, scopedProcess }) => {
          await scopedProcess?.background?.write('bg-1', `${await secretsResolver?.get(ref)}\n`);
          return ok('');
        },
        {
          capabilities: {
            process: { allowedBinaries: ['sh'], background: true },
            secrets: [ref],
          },
        },
      );
      registry.register(login);
      await runOne(registry, login.name);
    }
    const read = await use((background) => background.read('bg-1', { cursor: 0, waitMs: 20_000 }));
    expect(textOf(read.chunks)).toBe('[secret:api/first] and [secret:api/second]\n');
  });

  it('hides a secret whose parts arrive one after the other, also from a read in between', async () => {
    const { use, registry } = world({ secretsBackend: async () => 'hunter2-secret' });
    const capabilities = {
      process: { allowedBinaries: ['sh'], background: true },
      secrets: ['api/key'],
    };
    const start = makeTool(
      'start',
      async (_args, { secretsResolver, scopedProcess }) => {
        await secretsResolver?.get('api/key');
        const script =
          'printf a:hunter2; read go; printf -- "-secret;%0100d" 0 | tr 0 " "; read go; printf b:hunter2';
        await scopedProcess?.background?.start('sh', ['-c', script], { keepsInput: true });
        return ok('');
      },
      { capabilities },
    );
    registry.register(start);
    await runOne(registry, 'start');
    const read = (cursor: number) =>
      use((background) => background.read('bg-1', { cursor, waitMs: 20_000 }));
    const goOn = () => use((background) => background.write('bg-1', '\n'));

    const before = await read(0);
    expect(textOf(before.chunks)).toBe('a:');
    // The rest arrives while the read waits.
    const [rest] = await Promise.all([read(before.cursor), goOn()]);
    expect(textOf(rest.chunks).trim()).toBe('[secret:api/key];');
    expect(textOf((await read(0)).chunks).trim()).toBe('a:[secret:api/key];');
    expect(textOf((await read(9)).chunks).trim()).toBe('[secret:api/key];');

    await goOn();
    await expect
      .poll(async () => (await read(rest.cursor)).process.state, { timeout: 20_000 })
      .toBe('ended');
    // No rest comes any more, so this was no secret.
    expect(textOf((await read(rest.cursor)).chunks).trim()).toBe('b:hunter2');
  });

  it('gives a whole character at least, and takes a cursor from nowhere for the nearest', async () => {
    const { use } = world();
    const started = await use((background) => background.start('printf', ['😀']), {}, ['printf']);
    const read = (opts: Parameters<BackgroundProcesses['read']>[1]) =>
      use((background) => background.read(started.id, opts), {}, ['printf']);
    await expect.poll(async () => (await read({})).process.state).toBe('ended');
    expect(await read({ maxChars: 1 })).toMatchObject({ cursor: 2, chunks: [{ text: '😀' }] });
    expect(await read({ cursor: Number.POSITIVE_INFINITY, waitMs: 0.5 })).toMatchObject({
      cursor: 2,
      chunks: [],
    });
  });

  it('remembers a bounded number of ended ones over all sessions, the newest', async () => {
    const table = new BackgroundProcessTable(8, 3);
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const of = (sessionId: string) => {
      const journal = { sessionId, personalityId: undefined, audit: undefined, now: Date.now };
      const openScope = () => new CallScope(journal, { toolName: 'tool', toolCallId: 'call' });
      return new ScopedBackgroundImpl({
        allowed: new Set(['true']),
        personalityId: undefined,
        find: () => table.find(sessionId),
        open: () => table.open(sessionId),
        openScope,
        isCurrent: () => true,
        narrowing: undefined,
        launcher: (scope) => new ScopedProcessImpl(new Set(['true']), { scope }),
        now: Date.now,
        scope: openScope(),
      });
    };
    for (const id of ids) {
      const background = of(id);
      const started = await background.start('true', []);
      const state = async () =>
        (await background.read(started.id, { waitMs: 10_000 })).process.state;
      await expect.poll(state).toBe('ended');
    }
    const kept = async () => {
      const lists = await Promise.all(ids.map((id) => of(id).list()));
      return lists.map((list) => list.length);
    };
    await expect.poll(kept).toEqual([0, 0, 1, 1, 1]);
  });

  it('fails to start what can not be started, as spawn does', async () => {
    const { use } = world();
    const folder = mkdtempSync(join(tmpdir(), 'background-'));
    const file = join(folder, 'broken');
    writeFileSync(file, '#!/no/such/interpreter\n', { mode: 0o755 });
    await expect(use((background) => background.start(file, []), {}, [file])).rejects.toMatchObject(
      { code: 'SPAWN_FAILED' },
    );
    rmSync(folder, { recursive: true });
  });
});

describe('ScopedBackgroundImpl.write', () => {
  it('reaches a process that keeps its input, in a later call', async () => {
    const { use } = world();
    const program = 'read -r line; echo "got $line"; exit 0';
    await use((background) => background.start('sh', ['-c', program], { keepsInput: true }));
    await use((background) => background.write('bg-1', 'a word\n'));
    const output = await use((background) => background.read('bg-1', { waitMs: 600_000 }));
    expect(textOf(output.chunks)).toBe('got a word\n');
  });

  it('is refused by what was closed, has ended, or is of others', async () => {
    const { start, use, codeOf, events } = world();
    const ended = await start('exit 0');
    await start('sleep 60');
    await untilEnded(use, ended);
    const write = (id: string) => (background: BackgroundProcesses) => background.write(id, 'x');
    expect(await codeOf(write('bg-1'))).toBe('PROCESS_ENDED');
    expect(await codeOf(write('bg-2'))).toBe('PROCESS_ENDED');
    for (const ctx of [{ sessionId: 'other' }, { personalityId: 'other' }]) {
      expect(await codeOf(write('bg-2'), ctx)).toBe('PROCESS_NOT_FOUND');
    }
    expect(await codeOf(write('bg-2'), {}, ['cat'])).toBe('PROCESS_NOT_FOUND');
    expect(events.filter(({ operation }) => operation === 'write').at(-1)).toMatchObject({
      decision: 'denied',
    });
  });
});
