import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isLocked, tryLock } from './take-lock.js';
import { withFileLock } from './with-file-lock.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'file-lock-')));
  path = join(folder, 'file');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const waitMs = 60_000;

async function startHolder() {
  const script = fileURLToPath(new URL('./fixtures/hold-lock.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  expect(line).toBe('true\n');
  return child;
}

describe('withFileLock', () => {
  it('runs one task at a time in this process, gives back what it gives, and leaves nothing', async () => {
    let inside = 0;
    const runs = Array.from({ length: 20 }, (_, index) =>
      withFileLock(path, { waitMs }, async () => {
        inside += 1;
        expect([inside, isLocked(path)]).toEqual([1, true]);
        await new Promise((resolve) => setImmediate(resolve));
        inside -= 1;
        return index;
      }),
    );
    expect(await Promise.all(runs)).toEqual(runs.map((_, index) => index));
    expect(readdirSync(folder)).toEqual([]);
  });

  it('gives the lock back when the task fails', async () => {
    const failing = withFileLock(path, { waitMs }, () => Promise.reject(new Error('mine')));
    await expect(failing).rejects.toThrow('mine');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('waits for a process that is stopped, however old its lock, and goes on when it is killed', async () => {
    const child = await startHolder();
    try {
      child.kill('SIGSTOP');
      const [name = ''] = readdirSync(folder);
      utimesSync(join(folder, name), 0, 0);
      await expect(withFileLock(path, { waitMs: 50 }, async () => {})).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
      });
      expect(readdirSync(folder)).toEqual([name]);
      const waiting = withFileLock(path, { waitMs }, async () => 'mine');
      child.kill('SIGKILL');
      expect(await waiting).toBe('mine');
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      child.kill('SIGKILL');
    }
  });
});

describe('tryLock', () => {
  it('says who is in the way', () => {
    const attempt = tryLock(path);
    const [name = ''] = readdirSync(folder);
    expect(tryLock(path)).toEqual({
      isTaken: false,
      rival: { file: join(folder, name), pid: process.pid, isHolder: true },
    });
    if (attempt.isTaken) attempt.release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('leaves nothing of an attempt that fails', () => {
    // What looks like the lock of a process that has ended, but can not be removed as a file.
    const blocked = `${path}.lock.another-boot.1.1.1.x`;
    mkdirSync(blocked);
    expect(() => tryLock(path)).toThrow();
    rmdirSync(blocked);
    expect(readdirSync(folder)).toEqual([]);
    expect(tryLock(path).isTaken).toBe(true);
  });

  it.runIf(process.platform === 'linux')(
    'removes the lock of an earlier boot, and respects that of another machine',
    () => {
      const attempt = tryLock(path);
      const [name = ''] = readdirSync(folder);
      if (attempt.isTaken) attempt.release();
      const fields = name.slice('file.lock.'.length).split('.');
      const plant = (changed: readonly string[]) =>
        writeFileSync(`${path}.lock.${changed.join('.')}`, 'held');
      plant(['another-boot', ...fields.slice(1)]);
      const again = tryLock(path);
      expect(again.isTaken).toBe(true);
      if (again.isTaken) again.release();
      expect(readdirSync(folder)).toEqual([]);
      // Of a process in another namespace, it is not known whether it runs.
      const [boot = '', , , ...rest] = fields;
      const elsewhere = [boot, '1', '999999999', ...rest];
      plant(elsewhere);
      expect([tryLock(path).isTaken, isLocked(path)]).toEqual([false, true]);
      rmSync(`${path}.lock.${elsewhere.join('.')}`);
      plant(['another-boot', ...fields.slice(1, 5), '00000000']);
      expect([tryLock(path).isTaken, isLocked(path)]).toEqual([false, true]);
      expect(readFileSync(join(folder, readdirSync(folder)[0] ?? ''), 'utf8')).toBe('held');
    },
  );
});
