import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { isLongRun } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { CallScope } from '../call-scope.js';
import { makeTool, ok, rejection, runOne } from '../testing/batch.js';
import { DefaultToolRegistry } from '../tool-registry.js';
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

async function survivorsAfterASecond(mark: string): Promise<string[]> {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  return survivors(mark);
}

function scope(): CallScope {
  const journal = { sessionId: 's', personalityId: undefined, audit: undefined, now: Date.now };
  return new CallScope(journal, { toolName: 'tool', toolCallId: 'call' });
}

function start(program: string, mark: string, options: { scope?: CallScope; timeout?: number }) {
  const sh = new ScopedProcessImpl(new Set(['sh']), options.scope ? { scope: options.scope } : {});
  const opts = options.timeout === undefined ? {} : { timeout: options.timeout };
  return sh.spawn('sh', ['-c', program, 'sh', mark], opts);
}

describe('ScopedProcessImpl.spawn leaves nobody behind a second after', () => {
  it('an output over the cap, of a tree that goes on', async () => {
    const mark = randomUUID();
    const sh = new ScopedProcessImpl(new Set(['sh']), { maxOutputBytes: 100 });
    const result = await sh.spawn('sh', ['-c', 'while :; do echo $1; done', 'sh', mark]);
    expect(result).toMatchObject({ truncated: true, signal: 'SIGTERM', exitCode: 143 });
    expect(await survivorsAfterASecond(mark)).toEqual([]);
  });
});

// Ignores TERM and leaves its group. It forks and exits in a loop, so every look finds another
// process.
const RELAY = `
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.setsid() if os.fork() == 0 else time.sleep(60)
nothing = os.open('/dev/null', os.O_RDWR)
for descriptor in (0, 1, 2): os.dup2(nothing, descriptor)
end = time.time() + 5
while time.time() < end:
    if os.fork(): os._exit(0)
`;

describe('ScopedProcessImpl.spawn, a relay of processes', () => {
  it('is gone a second after the time-out', async () => {
    const mark = randomUUID();
    const python = new ScopedProcessImpl(new Set(['python3']));
    await python.spawn('python3', ['-c', RELAY, mark], { timeout: 500 });
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

  it.runIf(isLongRun())(
    'one spawn that times out leaves the others of its call alone',
    async () => {
      const call = scope();
      const sh = new ScopedProcessImpl(new Set(['sh']), { scope: call });
      const [slow, quick] = await Promise.all([
        sh.spawn('sh', ['-c', 'sleep 1; echo done']),
        sh.spawn('sh', ['-c', 'exec sleep 60'], { timeout: 100 }),
      ]);
      expect([slow.stdout, quick.timedOut]).toEqual(['done\n', true]);
      call.end();
    },
  );

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
