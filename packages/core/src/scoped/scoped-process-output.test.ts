import { inCheck, isLongRun } from '@ethosagent/test-support';
import type { SpawnOpts } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { CallScope } from '../call-scope.js';
import { rejection, untyped } from '../testing/batch.js';
import { ScopedProcessImpl, type ScopedProcessOptions } from './scoped-process.js';

function sh(program: string, opts: SpawnOpts, options: ScopedProcessOptions = {}) {
  return new ScopedProcessImpl(new Set(['sh']), options).spawn('sh', ['-c', program], opts);
}

const soon = () => new Promise<void>((resolve) => setTimeout(resolve, 20));

describe('ScopedProcessImpl.spawn, onOutput', () => {
  it('gets each stream as it comes, and the result has it all the same', async () => {
    const heard: string[] = [];
    const result = await sh('echo one; sleep 0.2; echo two >&2; sleep 0.2; printf three', {
      onOutput: (text, stream) => void heard.push(`${stream} ${text}`),
    });
    expect(heard).toEqual(['stdout one\n', 'stderr two\n', 'stdout three']);
    expect(result).toMatchObject({ stdout: 'one\nthree', stderr: 'two\n', exitCode: 0 });
  });

  it('never gets half a character', async () => {
    const heard: string[] = [];
    await sh(String.raw`printf '\303'; sleep 0.2; printf '\251 \303'`, {
      onOutput: (text) => void heard.push(text),
    });
    expect(heard.join('|')).toBe('é |\uFFFD');
  });

  it('is waited for, so that a slow reader loses nothing and little is held', async () => {
    let chars = 0;
    let pending = 0;
    const result = await sh('head -c 2000000 /dev/zero | tr "\\0" x', {
      overflow: 'drop',
      maxOutputBytes: 10,
      onOutput: async (text) => {
        pending += 1;
        expect(pending).toBe(1);
        await soon();
        chars += text.length;
        pending -= 1;
      },
    });
    expect(chars).toBe(2_000_000);
    expect(result).toMatchObject({ stdout: 'xxxxxxxxxx', truncated: true, exitCode: 0 });
  });

  const bytes = isLongRun() ? 2 ** 31 : 2 ** 26;
  it(`gets ${bytes} bytes in bounded memory`, async () => {
    let chars = 0;
    const before = process.memoryUsage().rss;
    const result = await sh(`yes 0123456789012345678901234567890123456789 | head -c ${bytes}`, {
      overflow: 'drop',
      maxOutputBytes: 1000,
      onOutput: (text) => {
        chars += text.length;
      },
    });
    expect(chars).toBe(bytes);
    expect(result.stdout.length).toBe(1000);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 ** 2);
  });

  it.each<[string, NonNullable<SpawnOpts['onOutput']>]>([
    [
      'throws',
      () => {
        throw new Error('no more');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no more'))],
  ])('that %s ends the process with its error', async (_name, onOutput) => {
    const error = await rejection(sh('echo x; sleep 30', { onOutput }));
    expect(error).toMatchObject({ message: 'no more' });
  });

  it('that never answers does not outlive the abort of the call', async () => {
    const journal = { sessionId: 's', personalityId: undefined, audit: undefined, now: Date.now };
    const scope = new CallScope(journal, { toolName: 'tool', toolCallId: 'call' });
    const running = sh('echo x; sleep 30', { onOutput: () => new Promise(() => {}) }, { scope });
    setTimeout(() => scope.abort(new Error('stop')), 200);
    expect(await rejection(running)).toMatchObject({ message: 'stop' });
  });

  // Waits as long as the product does, which is half a minute.
  it.runIf(isLongRun())(
    'does not wait for what a process left behind writes for ever',
    async () => {
      const result = await sh(
        '(setsid sh -c "while :; do echo more; sleep 0.01; done" &) ; echo done',
        {
          overflow: 'drop',
          maxOutputBytes: 100,
          onOutput: soon,
        },
      );
      expect(result.exitCode).toBe(0);
    },
  );

  it('hears nothing any more once it has thrown', async () => {
    let heard = 0;
    const onOutput = () => {
      heard += 1;
      throw new Error('no more');
    };
    await rejection(sh('trap "" TERM; while :; do echo x; sleep 0.02; done', { onOutput }));
    const atOnce = heard;
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect([atOnce, heard]).toEqual([1, 1]);
  });

  it('that never answers does not hold up a time-out for long', async () => {
    const onOutput = () => new Promise<void>(() => {});
    const result = await sh('echo x; sleep 30', { onOutput, timeout: 200 });
    expect(result).toMatchObject({ timedOut: true });
  });

  it.each([Number.NaN, -1, Number.POSITIVE_INFINITY, 1e12])(
    'a maxOutputBytes of %s is no way around the cap',
    async (maxOutputBytes) => {
      const result = await sh('yes', { maxOutputBytes }, { maxOutputBytes: 500 });
      expect(result.stdout.length).toBe(500);
    },
  );
});

describe('ScopedProcessImpl.spawn, limits of the call', () => {
  const sandboxed = (limits: SpawnOpts['limits'], policy: ScopedProcessOptions['policy'] = {}) =>
    sh(
      'ulimit -n; ulimit -t',
      { ...(limits && { limits }) },
      { policy: { sandbox: 'required', ...policy } },
    );

  it.each<[string, SpawnOpts['limits'], string]>([
    ['of its own', { cpu_seconds: 7 }, '50\n7\n'],
    ['smaller ones', { open_files: 20, cpu_seconds: 3 }, '20\n3\n'],
    ['larger ones lift nothing', { open_files: 1000 }, '50\nunlimited\n'],
    ['NaN lifts nothing', { open_files: Number.NaN }, '50\nunlimited\n'],
    ['negative ones lift nothing', { open_files: -1 }, '50\nunlimited\n'],
    ['text lifts nothing', { open_files: untyped('9') }, '50\nunlimited\n'],
  ])('%s', async (_name, limits, stdout) => {
    const result = await sandboxed(limits, { limits: { open_files: 50 } });
    expect(result).toMatchObject({ stdout });
  });

  const lifting: Array<[string, SpawnOpts['limits']]> = [
    ['none', undefined],
    ['NaN', { open_files: Number.NaN }],
    ['text', { open_files: untyped('20000') }],
    ['larger ones', { open_files: 20_000 }],
    ['endless ones', { open_files: Number.POSITIVE_INFINITY }],
  ];
  it.each(inCheck(lifting, ([which]) => ['none', 'larger ones'].includes(which)))(
    '%s of the call leave the default where the operator sets nothing',
    async (_name, limits) => {
      expect(await sandboxed(limits)).toMatchObject({ stdout: '1024\nunlimited\n' });
    },
  );
});
