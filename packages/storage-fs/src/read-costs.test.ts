import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { canTrace, isLongRun } from '@ethosagent/test-support';
import { afterAll, describe, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'read-costs-'));
afterAll(() => rmSync(folder, { recursive: true }));
const built = fileURLToPath(new URL('../dist/index.js', import.meta.url));
const isTraced = isLongRun() && canTrace() && existsSync(built);

const SCRIPT = `
const [built, folder, times] = process.argv.slice(1);
const { FsStorage } = await import(built);
const view = new FsStorage().contained({ read: [folder], write: [], deny: ['/etc'] });
for (let n = 0; n < Number(times); n++) await view.read(folder + '/file.txt');
`;

/**
 * The number of system calls on files and descriptors in a process that reads a contained file
 * `times` times.
 */
function systemCalls(times: number): number {
  const counts = join(folder, 'counts.txt');
  const node = [process.execPath, '--input-type=module', '--eval', SCRIPT];
  const traced = ['-f', '-c', '-o', counts, '-e', 'trace=%file,%desc', ...node];
  const { status } = spawnSync('strace', [...traced, built, folder, `${times}`]);
  expect(status).toBe(0);
  const total = /^\s*100\.00\s+\S+\s+(?:\S+\s+)?(\d+)\s+(?:\d+\s+)?total$/m.exec(
    readFileSync(counts, 'utf8'),
  );
  return Number(total?.[1]);
}

describe('how many system calls a contained read makes', () => {
  it.runIf(isTraced)('no more than ten', () => {
    writeFileSync(join(folder, 'file.txt'), 'x'.repeat(1024));
    const each = (systemCalls(600) - systemCalls(100)) / 500;
    expect(each).toBeGreaterThan(2);
    expect(each).toBeLessThan(10);
  });
});
