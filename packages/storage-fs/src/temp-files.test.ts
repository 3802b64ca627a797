import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { realPathAccess } from './access.js';
import { isTemporaryName, sweepLeftovers, temporaryName } from './temp-files.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'temp-files-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const sweep = () => sweepLeftovers(realPathAccess.openFolder(dir, true));
const own = temporaryName();
const [, machine = '', , token = ''] = own.split('-');
const deadPid = spawnSync(process.execPath, ['-e', '']).pid;

/** A valid name with other facts. */
function forged(facts: { machine?: string; pid?: number; token?: string }): string {
  const body = [
    '.ethos',
    facts.machine ?? machine,
    facts.pid ?? process.pid,
    facts.token ?? token,
    '0123456789abcdef',
  ].join('-');
  return `${body}-${createHash('sha256').update(body).digest('hex').slice(0, 8)}.tmp`;
}

describe('temporaryName', () => {
  it('never repeats itself', () => {
    expect(new Set(Array.from({ length: 1_000 }, temporaryName)).size).toBe(1_000);
  });

  it('is known to isTemporaryName, and what only looks like it is not', () => {
    expect(isTemporaryName(own)).toBe(true);
    expect(isTemporaryName(forged({}))).toBe(true);
    const last = own.at(-5) === '0' ? '1' : '0';
    for (const name of [
      '',
      'file',
      '.ethos',
      '.ethos-notes.tmp',
      own.slice(1),
      `${own}x`,
      `${own.slice(0, -5)}${last}.tmp`,
      own.replace(/-\d+-/, '-1-'),
    ]) {
      expect(isTemporaryName(name), name).toBe(false);
    }
  });
});

describe('sweepLeftovers', () => {
  it('removes what a dead process left, and nothing else', async () => {
    const dead = forged({ pid: deadPid, token: 'aaaaaaaa' });
    const earlierSelf = forged({ token: 'aaaaaaaa' });
    const oldForeign = forged({ machine: 'aaaaaaaa', token: 'bbbbbbbb' });
    // A name of this very process, from another thread or another copy of this module.
    const alive = forged({});
    const reused = forged({ pid: process.ppid, token: 'aaaaaaaa' });
    const foreign = forged({ machine: 'aaaaaaaa', pid: deadPid });
    const link = forged({ pid: deadPid, token: 'cccccccc' });
    const lookalike = dead.replace('.tmp', 'x.tmp');
    for (const name of [
      dead,
      earlierSelf,
      oldForeign,
      own,
      alive,
      reused,
      foreign,
      lookalike,
      'user',
    ]) {
      writeFileSync(join(dir, name), 'x');
    }
    symlinkSync('user', join(dir, link));
    utimesSync(join(dir, oldForeign), 0, 0);
    await sweep();
    expect(readdirSync(dir).sort()).toEqual([own, alive, foreign, link, lookalike, 'user'].sort());
  });
});
