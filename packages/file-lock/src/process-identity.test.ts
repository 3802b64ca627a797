import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isRunning, ownStart } from './process-identity.js';

describe.skipIf(!existsSync('/proc/self/stat'))('isRunning', () => {
  it('is true of this process, and not of another start of its id', () => {
    expect(isRunning(process.pid, ownStart())).toBe(true);
    expect(isRunning(process.pid, 'ffffffff')).toBe(false);
  });

  it('is false of a process that is gone, and of one that only its parent has not fetched', async () => {
    // The child ends after its parent has become another program, which never reads its exit code.
    const parent = spawn('sh', [
      '-c',
      '(until grep -q sleep /proc/$$/comm; do :; done) & echo $!; exec sleep 60',
    ]);
    const pid = await new Promise<number>((resolve) =>
      parent.stdout.once('data', (chunk) => resolve(Number(chunk))),
    );
    const stateOf = () => /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
    try {
      await expect.poll(stateOf, { timeout: 60_000 }).toBe('Z');
      const ticks = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19];
      const start = (Number(ticks) >>> 0).toString(16).padStart(8, '0');
      expect(isRunning(pid, start)).toBe(false);
    } finally {
      parent.kill('SIGKILL');
    }
  });
});
