import { randomUUID } from 'node:crypto';
import { isLongRun } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { type CreateCall, NO_FILES, survivors } from './attacked-call.js';

/** Tests that the output and the exit of a process are reported correctly, within limits. */
export function outcomeAttacks(create: CreateCall): void {
  const run = (program: string, ...args: string[]) =>
    create(NO_FILES).process.spawn('sh', ['-c', program, 'sh', ...args]);

  describe('tells of', () => {
    it.each<[what: string, program: string, expected: object]>([
      ['exit code 0', ':', { exitCode: 0, stdout: '', stderr: '' }],
      ['exit code 3', 'exit 3', { exitCode: 3, stdout: '', stderr: '' }],
      ['exit code 129', 'exit 129', { exitCode: 129, stdout: '', stderr: '' }],
      ['both streams', 'echo o; echo e >&2', { exitCode: 0, stdout: 'o\n', stderr: 'e\n' }],
      ['TERM', 'kill -TERM $$', { exitCode: 143, stdout: '', stderr: '', signal: 'SIGTERM' }],
      ['KILL', 'kill -KILL $$', { exitCode: 137, stdout: '', stderr: '', signal: 'SIGKILL' }],
      ['SEGV', 'kill -SEGV $$', { exitCode: 139, stdout: '', stderr: '', signal: 'SIGSEGV' }],
      ['a reader of stdin', 'cat; echo read', { exitCode: 0, stdout: 'read\n', stderr: '' }],
      [
        'binary output',
        String.raw`printf 'a\377\376\000b'`,
        { exitCode: 0, stdout: 'a\ufffd\ufffd\0b', stderr: '' },
      ],
      [
        'no terminal',
        'test -t 0 || test -t 1 || echo none > /dev/tty',
        { exitCode: 2, stdout: '' },
      ],
    ])('%s', async (_what, program, expected) => {
      expect(await run(program)).toMatchObject(expected);
    });
  });

  // In a check, another test floods with 200 MB, and these have a cap.
  it.runIf(isLongRun())('holds a flood of 200 MB to its cap, in bounded memory', async () => {
    const before = process.memoryUsage().rss;
    const result = await run('head -c 200000000 /dev/zero; exit 0');
    expect(result.truncated).toBe(true);
    expect(result.stdout.length).toBeLessThanOrEqual(16 * 1024 * 1024);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
  });

  it('a time-out ends one of two processes, and leaves the other alone', async () => {
    const call = create(NO_FILES);
    const mark = randomUUID();
    const race = (timeout: number) =>
      Promise.all([
        call.process.spawn('sh', ['-c', `sleep ${timeout / 400}; echo done`]),
        call.process.spawn('sh', ['-c', 'echo begun; sleep 60', 'sh', mark], { timeout }),
      ]);
    let [slow, quick] = await race(300);
    // A busy machine may take longer than that to start a process.
    if (quick.stdout === '') [slow, quick] = await race(10_000);
    expect(slow).toEqual({ exitCode: 0, stdout: 'done\n', stderr: '' });
    expect(quick).toMatchObject({ stdout: 'begun\n', timedOut: true });
    expect(survivors(mark)).toEqual([]);
    call.end();
  });

  it('an abort while it starts rejects with what aborted it', async () => {
    const call = create(NO_FILES);
    const mark = randomUUID();
    const running = call.process.spawn('sh', ['-c', 'sleep 60', 'sh', mark]);
    const told = running.then(
      () => 'resolved',
      () => 'rejected',
    );
    call.abort();
    call.end();
    expect(await told).toBe('rejected');
  });
}
