import { randomUUID } from 'node:crypto';
import { isLongRun } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { type CreateCall, NO_FILES, survivors } from './attacked-call.js';

/** Tests that a sandboxed process and all its children together stay within their limits. */
export function limitAttacks(create: CreateCall): void {
  const run = (limits: object, program: string, mark = '') =>
    create({ ...NO_FILES, limits }).process.spawn('sh', ['-c', program, 'sh', mark], {
      timeout: 20_000,
    });

  describe('is held to', () => {
    it('its number of processes, by whatever forks', async () => {
      const mark = randomUUID();
      // Each child waits without starting a process of its own, since the limit might prevent that.
      const forks = 'for i in $(seq 200); do sh -c "read -r line </tmp/never" "$1" & done';
      // The shell that can't fork any more ends. Its children and the first process stay.
      const bomb = `mkfifo /tmp/never; sh -c '${forks}' sh "$1"; sleep 1`;
      const running = run({ processes: 40 }, bomb, mark);
      let most = 0;
      const ended = running.then(() => true);
      const tick = () => new Promise<false>((resolve) => setTimeout(() => resolve(false), 50));
      while (!(await Promise.race([ended, tick()]))) {
        most = Math.max(most, survivors(mark).length);
      }
      expect(most).toBeGreaterThan(10);
      // The two processes of bubblewrap may be counted too, or be additional.
      expect(most).toBeLessThanOrEqual(43);
      expect(survivors(mark)).toEqual([]);
    });

    it.each([
      [
        'the size of a file',
        { file_size_mb: 1 },
        'head -c 3000000 /dev/zero > /tmp/big; wc -c < /tmp/big',
        '1048576\n',
      ],
      ['its open files', { open_files: 20 }, 'ulimit -n', '20\n'],
      ['its memory', { memory_mb: 64 }, 'head -c 200M /dev/zero | tail | wc -c', '0\n'],
    ])('%s', async (_name, limits, program, stdout) => {
      expect(await run(limits, program)).toMatchObject({ stdout });
    });

    it('no limit of its own where one is larger than the system can count', async () => {
      const limits = { file_size_mb: 2 ** 44 + 1, memory_mb: 2 ** 44 + 1 };
      const program = 'head -c 3000000 /dev/zero > /tmp/big; wc -c < /tmp/big';
      expect(await run(limits, program)).toMatchObject({ stdout: '3000000\n', stderr: '' });
    });

    it.runIf(isLongRun())('its processor time', async () => {
      expect(await run({ cpu_seconds: 1 }, 'while :; do :; done')).toMatchObject({
        exitCode: 137,
        signal: 'SIGKILL',
      });
    });
  });
}
