import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CallScope } from '../call-scope.js';
import { makeTool, ok, rejection, runOne } from '../testing/batch.js';
import { DefaultToolRegistry } from '../tool-registry.js';
import { ScopedProcessImpl } from './scoped-process.js';

/** Live processes whose command line holds the mark. */
function survivors(mark: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
    } catch {
      return false;
    }
  });
}

async function survivorsAfterASecond(mark: string): Promise<string[]> {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  return survivors(mark);
}

/** Shell programs that try to outlive their call; `$1` is the mark that their processes carry. */
const LINGERERS: Array<[string, string]> = [
  ['waits', 'sh -c "sleep 60" "$1"'],
  ['traps TERM', 'trap "" TERM; while :; do sleep 1; done # $1'],
  ['has a grandchild that holds the pipe', 'sh -c "sleep 60; :" "$1" & sh -c "sleep 60; :" "$1"'],
  ['left a grandchild that holds the pipe behind', 'sh -c "sleep 60; :" "$1" & exit 0'],
  [
    'left a grandchild that traps TERM behind',
    'sh -c "trap \\"\\" TERM; sleep 60; :" "$1" & exit 0',
  ],
  ['has a child in a session of its own', 'setsid sh -c "sleep 60; :" "$1"; sleep 60'],
  [
    'has a child in a session of its own that traps TERM',
    'setsid sh -c "trap \\"\\" TERM; while :; do sleep 1; done" "$1" & sleep 60',
  ],
  [
    'left a child in a session of its own behind',
    'setsid sh -c "sleep 60; :" "$1" & sleep 0.2; exit 0',
  ],
  [
    'left a daemon behind that holds no pipe',
    'setsid sh -c "sleep 60; :" "$1" >/dev/null 2>&1 </dev/null & sleep 0.2; exit 0',
  ],
  [
    'left a daemon behind that traps TERM',
    'setsid sh -c "trap \\"\\" TERM; sleep 60; :" "$1" >/dev/null 2>&1 </dev/null & sleep 0.2; exit 0',
  ],
  [
    'spawns a new child when TERM comes',
    'trap \'setsid sh -c "sleep 60; :" "$1" & sleep 5\' TERM; sh -c "sleep 60; :" "$1" & wait',
  ],
];

function scope(): CallScope {
  const journal = { sessionId: 's', personalityId: undefined, audit: undefined, now: Date.now };
  return new CallScope(journal, 'tool', 'call');
}

function start(program: string, mark: string, options: { scope?: CallScope; timeout?: number }) {
  const sh = new ScopedProcessImpl(new Set(['sh']), options.scope ? { scope: options.scope } : {});
  const opts = options.timeout === undefined ? {} : { timeout: options.timeout };
  return sh.spawn('sh', ['-c', program, 'sh', mark], opts);
}

describe.concurrent('ScopedProcessImpl.spawn leaves nobody behind a second after', () => {
  it.each(LINGERERS.slice(0, 7))('a time-out, of a tree that %s', async (_name, program) => {
    const mark = randomUUID();
    const result = await start(program, mark, { timeout: 300 });
    expect(await survivorsAfterASecond(mark)).toEqual([]);
    if (result.timedOut !== true) expect(result.exitCode).toBe(0);
  });

  it.each(LINGERERS)('the end of its call, of a tree that %s', async (_name, program) => {
    const mark = randomUUID();
    const call = scope();
    const pending = start(program, mark, { scope: call }).catch((error: unknown) => error);
    await new Promise((resolve) => setTimeout(resolve, 500));
    call.end();
    await pending;
    expect(await survivorsAfterASecond(mark)).toEqual([]);
  });

  it.each(LINGERERS)('an abort of the turn, of a tree that %s', async (_name, program) => {
    const mark = randomUUID();
    const controller = new AbortController();
    const registry = new DefaultToolRegistry({});
    registry.register(
      makeTool(
        'run',
        async (_args, ctx) => {
          await ctx.scopedProcess?.spawn('sh', ['-c', program, 'sh', mark]);
          return new Promise(() => {});
        },
        { capabilities: { process: { allowedBinaries: ['sh'] } } },
      ),
    );
    const pending = runOne(registry, 'run', {}, { abortSignal: controller.signal });
    await new Promise((resolve) => setTimeout(resolve, 500));
    controller.abort();
    expect(await pending).toMatchObject({ ok: false, error: 'the turn was aborted' });
    expect(await survivorsAfterASecond(mark)).toEqual([]);
  });

  it('an output over the cap, of a tree that goes on', async () => {
    const mark = randomUUID();
    const sh = new ScopedProcessImpl(new Set(['sh']), { maxOutputBytes: 100 });
    const result = await sh.spawn('sh', ['-c', 'while :; do echo $1; done', 'sh', mark]);
    expect(result).toMatchObject({ truncated: true, signal: 'SIGTERM', exitCode: 143 });
    expect(await survivorsAfterASecond(mark)).toEqual([]);
  });
});

describe('ScopedProcessImpl.spawn, how an end is told', () => {
  it('a time-out resolves with timedOut and the signal', async () => {
    expect(await start('echo begun; exec sleep 60', 'mark', { timeout: 200 })).toEqual({
      exitCode: 143,
      stdout: 'begun\n',
      stderr: '',
      signal: 'SIGTERM',
      timedOut: true,
    });
  });

  it('a time-out of what traps TERM ends with KILL', async () => {
    expect(
      await start('trap "" TERM; while :; do sleep 1; done', 'mark', { timeout: 200 }),
    ).toMatchObject({ exitCode: 137, signal: 'SIGKILL', timedOut: true });
  });

  it.each([[0], [-1], [Number.NaN], [Number.POSITIVE_INFINITY], [2 ** 40]])(
    'a time-out of %s does not fire at once',
    async (timeout) => {
      expect(await start('sleep 0.05; echo done', 'mark', { timeout })).toEqual({
        exitCode: 0,
        stdout: 'done\n',
        stderr: '',
      });
    },
  );

  it('the end of the call rejects with CALL_ENDED', async () => {
    const call = scope();
    const pending = start('exec sleep 60', 'mark', { scope: call });
    await new Promise((resolve) => setTimeout(resolve, 100));
    call.end();
    expect(await rejection(pending)).toMatchObject({ code: 'CALL_ENDED' });
  });

  it('an abort rejects with its reason', async () => {
    const call = scope();
    const pending = start('exec sleep 60', 'mark', { scope: call });
    await new Promise((resolve) => setTimeout(resolve, 100));
    call.abort('because');
    expect(await rejection(pending)).toBe('because');
  });

  it('one spawn that times out leaves the others of its call alone', async () => {
    const call = scope();
    const sh = new ScopedProcessImpl(new Set(['sh']), { scope: call });
    const [slow, quick] = await Promise.all([
      sh.spawn('sh', ['-c', 'sleep 1; echo done']),
      sh.spawn('sh', ['-c', 'exec sleep 60'], { timeout: 100 }),
    ]);
    expect([slow.stdout, quick.timedOut]).toEqual(['done\n', true]);
    call.end();
  });

  it('the tool of a normal call gets its result, and daemons end with the call', async () => {
    const mark = randomUUID();
    const registry = new DefaultToolRegistry({});
    const program = 'setsid sh -c "sleep 60; :" "$1" >/dev/null 2>&1 & sleep 0.3; echo started';
    registry.register(
      makeTool(
        'run',
        async (_args, ctx) => {
          const result = await ctx.scopedProcess?.spawn('sh', ['-c', program, 'sh', mark]);
          expect(survivors(mark)).toHaveLength(1);
          return ok(result?.stdout ?? '');
        },
        { capabilities: { process: { allowedBinaries: ['sh'] } } },
      ),
    );
    expect(await runOne(registry, 'run')).toEqual(ok('started\n'));
    expect(await survivorsAfterASecond(mark)).toEqual([]);
  });
});
