import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLongRun } from '@ethosagent/test-support';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rejection } from '../testing/batch.js';
import { ScopedProcessImpl, type ScopedProcessOptions } from './scoped-process.js';

const root = mkdtempSync(join(tmpdir(), 'scoped-process-'));

/** Creates an executable shell script below `root`. */
function script(path: string, body: string): string {
  const file = join(root, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${body}\n`);
  chmodSync(file, 0o755);
  return file;
}

afterAll(() => rmSync(root, { recursive: true, force: true }));

function processes(allowed: string[], options: ScopedProcessOptions = {}): ScopedProcessImpl {
  return new ScopedProcessImpl(new Set(allowed), options);
}

describe('ScopedProcessImpl.spawn, cwd', () => {
  const inside = join(root, 'inside');
  const outside = join(root, 'outside');
  const floor = join(inside, 'floor');
  const reach = {
    roots: [inside],
    denies: (path: string) => path === floor || path.startsWith(`${floor}/`),
  };
  beforeAll(() => {
    for (const folder of [inside, outside, floor, `${inside}/deep`, `${inside}-not`])
      mkdirSync(folder, { recursive: true });
    writeFileSync(join(inside, 'file'), '');
    symlinkSync(outside, join(inside, 'link'));
    symlinkSync(join(inside, 'deep'), join(inside, 'inner-link'));
    symlinkSync(floor, join(inside, 'floor-link'));
    symlinkSync(join(inside, 'gone'), join(inside, 'dangling'));
  });
  const pwd = (cwd: string | undefined) =>
    processes(['pwd'], { reach }).spawn('pwd', ['-P'], cwd === undefined ? {} : { cwd });

  it.each([
    ['a folder outside', outside],
    ['the parent', root],
    ['a sibling with the same beginning', `${inside}-not`],
    ['a link that leaves', join(inside, 'link')],
    ['.. out of the reach', `${inside}/../outside`],
    ['a folder on the deny floor', floor],
    ['a link to the deny floor', join(inside, 'floor-link')],
    ['a dangling link', join(inside, 'dangling')],
    ['a folder that is not there', join(inside, 'gone')],
    ['a file', join(inside, 'file')],
    ['/proc/self/cwd', '/proc/self/cwd'],
  ])('refuses %s', async (_name, cwd) => {
    expect(await rejection(pwd(cwd))).toMatchObject({
      code: 'PATH_NOT_REACHABLE',
      message: expect.stringMatching(
        new RegExp(
          `^PATH_NOT_REACHABLE: read not permitted for ${cwd}(: it is on the deny floor.*)?$`,
        ),
      ),
    });
  });

  it.each([
    ['the root', inside, inside],
    ['a folder below', `${inside}/deep`, `${inside}/deep`],
    ['a link that stays', join(inside, 'inner-link'), `${inside}/deep`],
    ['.. that stays', `${inside}/deep/..`, inside],
  ])('works in %s', async (_name, cwd, real) => {
    expect(await pwd(cwd)).toEqual({ exitCode: 0, stdout: `${real}\n`, stderr: '' });
  });

  it('a folder that is swapped for a link again and again is never left', async () => {
    const swapped = join(inside, 'swapped');
    const swapper = script(
      'swap',
      `while :; do rm -rf ${swapped}; mkdir ${swapped}; rm -rf ${swapped}; ln -s ${outside} ${swapped}; done`,
    );
    const swapping = processes([swapper]).spawn(swapper, [], {
      timeout: isLongRun() ? 3_000 : 500,
    });
    const seen = new Set<string>();
    let ended = false;
    void swapping.finally(() => {
      ended = true;
    });
    while (!ended) {
      // A refusal does not wait for the event loop, so this gives the other process a chance.
      await new Promise(setImmediate);
      const outcome = await pwd(swapped).then(
        ({ stdout }) => stdout,
        (error: { code: string }) => (error.code === 'PATH_NOT_REACHABLE' ? 'refused' : error.code),
      );
      seen.add(outcome);
    }
    expect(await swapping).toMatchObject({ timedOut: true });
    expect(seen).toContain('refused');
    expect([...seen].filter((where) => where.includes('outside'))).toEqual([]);
  });

  it.each([
    [
      'the working directory of the call, where it is in the reach',
      `${inside}/deep`,
      `${inside}/deep`,
    ],
    ['the first root, where it is not', outside, inside],
    ['the first root, where a link leads out', join(inside, 'link'), inside],
  ])('a child that is told no directory works in %s', async (_name, workingDir, expected) => {
    const { stdout } = await processes(['pwd'], { reach, workingDir }).spawn('pwd', ['-P']);
    expect(stdout.trim()).toBe(realpathSync(expected));
  });

  it('a child that is told no directory is refused where the reach has none', async () => {
    const nowhere = { roots: [join(inside, 'gone')], denies: () => false };
    const spawned = processes(['pwd'], { reach: nowhere, workingDir: outside }).spawn('pwd', []);
    expect(await rejection(spawned)).toMatchObject({ code: 'PATH_NOT_REACHABLE' });
  });

  it('leaves no descriptor behind', async () => {
    const { readdirSync } = await import('node:fs');
    const open = () => readdirSync('/proc/self/fd').length;
    await pwd(inside);
    const before = open();
    for (let round = 0; round < (isLongRun() ? 20 : 4); round++) {
      await pwd(inside);
      await rejection(pwd(join(inside, 'link')));
    }
    expect(open()).toBeLessThanOrEqual(before);
  });
});
