import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runScript } from '@ethosagent/conformance/attacks';
import { isLocked } from '@ethosagent/file-lock';
import { bundleScript, countTries, isLongRun } from '@ethosagent/test-support';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { JsonlAuditSink } from './jsonl-audit-sink.js';
import { lockLog } from './log-lock.js';

let folder: string;
let log: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'log-lock-'));
  log = join(folder, 'audit.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const locks = () => readdirSync(folder).filter((name) => name.startsWith('audit.jsonl.lock.'));
const isTaken = () => {
  try {
    lockLog(log)();
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    return true;
  }
};

/** The fields in the name of this process's lock. */
function ownFields(): string[] {
  const release = lockLog(log);
  const [name = ''] = locks();
  release();
  return name.slice('audit.jsonl.lock.'.length).split('.');
}

function plant(fields: readonly (string | number)[], content = 'held'): string {
  const file = `${log}.lock.${fields.join('.')}`;
  writeFileSync(file, content);
  return file;
}

describe('lockLog', () => {
  it('gives a log to one at a time, and again when it is given back', () => {
    const release = lockLog(log);
    expect(isTaken()).toBe(true);
    expect(locks()).toHaveLength(1);
    release();
    expect(isTaken()).toBe(false);
    expect(locks()).toEqual([]);
  });

  it('can be asked for without being taken, or changed', () => {
    expect(isLocked(log)).toBe(false);
    const release = lockLog(log);
    expect([isLocked(log), isLocked(join(folder, 'audit-2.jsonl'))]).toEqual([true, false]);
    release();
    const own = ownFields();
    plant(['another-boot', ...own.slice(1)]);
    plant(own, 'not yet held');
    expect([isLocked(log), locks().length]).toEqual([false, 2]);
  });

  it('is no matter to another log in the same folder', () => {
    const release = lockLog(log);
    lockLog(join(folder, 'audit.jsonl.lock'))();
    lockLog(join(folder, 'audit-2.jsonl'))();
    release();
  });

  it('names the process and the file to whoever comes second', () => {
    const release = lockLog(log);
    const [name = ''] = locks();
    expect(() => lockLog(log)).toThrow(new RegExp(`process ${process.pid} .*${name}`));
    release();
  });

  it('is given back by a sink that could not open its log', () => {
    writeFileSync(log, 'not a log\n');
    expect(() => new JsonlAuditSink({ path: log })).toThrow();
    expect(locks()).toEqual([]);
  });

  const linux = describe.runIf(process.platform === 'linux');
  linux('left by a process', () => {
    /** A process, and the lock that it would hold. */
    async function lockOf(binary: string, args: string[]) {
      const child = spawn(binary, args, { stdio: 'ignore' });
      await once(child, 'spawn');
      const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
      const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
      const [boot = '', namespace = ''] = ownFields();
      const file = plant([boot, namespace, child.pid ?? 0, started, 'abcdef']);
      const end = async () => {
        child.kill('SIGKILL');
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      };
      return { boot, namespace, pid: child.pid ?? 0, started, file, end };
    }

    it('that lives is respected, and taken over when it has died', async () => {
      const { end } = await lockOf('sleep', ['60']);
      expect(isTaken()).toBe(true);
      expect(locks()).toHaveLength(1);
      await end();
      expect(isTaken()).toBe(false);
      expect(locks()).toEqual([]);
    });

    it('whose id another process has now is taken over', async () => {
      const { boot, namespace, pid, started, file, end } = await lockOf('sleep', ['60']);
      rmSync(file);
      plant([boot, namespace, pid, Number(started) - 1, 'abcdef']);
      expect(isTaken()).toBe(false);
      await end();
    });

    it('of an earlier boot is taken over', () => {
      const [, namespace = '', pid = '', started = ''] = ownFields();
      plant(['00000000-0000-0000-0000-000000000000', namespace, pid, started, 'abcdef']);
      expect(isTaken()).toBe(false);
    });

    it('of another process namespace is respected: nobody can tell', () => {
      const [boot = '', , , started = ''] = ownFields();
      expect(readlinkSync('/proc/self/ns/pid')).not.toContain('[1]');
      plant([boot, '1', 999_999_999, started, 'abcdef']);
      expect(isTaken()).toBe(true);
    });

    it('that is a zombie is taken over', async () => {
      // The shell never reads the exit code of its child, which has ended.
      const shell = spawn(
        'sh',
        ['-c', '(until grep -q sleep /proc/$$/comm; do :; done) & echo $!; exec sleep 60'],
        {
          stdio: ['ignore', 'pipe', 'ignore'],
        },
      );
      try {
        const [pid] = await once(shell.stdout.setEncoding('utf8'), 'data');
        const statOf = () => readFileSync(`/proc/${Number(pid)}/stat`, 'utf8').split(' ');
        await expect.poll(() => statOf()[2], { timeout: 60_000 }).toBe('Z');
        const [boot = '', namespace = ''] = ownFields();
        plant([boot, namespace, Number(pid), statOf()[21] ?? '', 'abcdef']);
        expect(isTaken()).toBe(false);
      } finally {
        shell.kill('SIGKILL');
      }
    });
  });

  it('of a contender that never held it is waited for, and then given up', async () => {
    const fields = ownFields();
    plant([...fields.slice(0, 4), 'abcdef'], '');
    expect(isTaken()).toBe(true);
  });

  it('is with one of several processes at a time, however often they come', async (context) => {
    const PROCESSES = 4;
    const rounds = isLongRun() ? 1_000 : 30;
    const contend = await bundleScript(new URL('./fixtures/contend-for-log.ts', import.meta.url));
    const taken = await Promise.all(
      Array.from({ length: PROCESSES }, async () => {
        const lines = await runScript(contend, { args: [log, String(rounds)] });
        return Number(lines[0]);
      }),
    );
    expect(Math.max(...taken)).toBeGreaterThan(0);
    expect(locks()).toEqual([]);
    countTries(context, 'audit', PROCESSES * rounds);
  });
});
