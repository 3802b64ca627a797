import { execFileSync } from 'node:child_process';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openGuard } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { descriptorAccess, hasDescriptors } from './access.js';
import type { World } from './locate.js';
import { readText } from './read-file.js';

const O_PATH = 0o10000000;
const dir = mkdtempSync(join(tmpdir(), 'read-file-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** The flags of all descriptors of this process that lead to a path. */
function flagsOf(path: string): number[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      if (readlinkSync(`/proc/self/fd/${fd}`) !== path) return [];
      const info = readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1');
      return [Number.parseInt(/^flags:\s*([0-7]+)/m.exec(info)?.[1] ?? '', 8)];
    } catch {
      // The descriptor that listed the folder is closed.
      return [];
    }
  });
}

/** A world whose guard sees how the target is open when it is judged, and then refuses it. */
function refusing(target: string) {
  const seen: number[] = [];
  const guard: World['guard'] = {
    ...openGuard,
    judge: () => {
      seen.push(...flagsOf(target));
      throw new EthosError('PATH_NOT_REACHABLE', 'refused');
    },
  };
  const world: World = { access: descriptorAccess, guard };
  return { world, seen };
}

describe.runIf(hasDescriptors())('readText through a link', () => {
  const pipe = join(dir, 'pipe');
  const link = join(dir, 'link');
  beforeAll(() => {
    execFileSync('mkfifo', [pipe]);
    symlinkSync(pipe, link);
  });

  it('does not open a pipe that is out of reach', async () => {
    const { world, seen } = refusing(pipe);
    const request = { kind: 'read', asked: link, path: link } as const;
    await expect(readText(world, request, 100)).rejects.toMatchObject({
      code: 'PATH_NOT_REACHABLE',
    });
    expect(seen.map((flags) => flags & O_PATH)).toEqual([O_PATH]);
  });

  it('does not open a pipe that is within reach', async () => {
    const world: World = { access: descriptorAccess, guard: openGuard };
    const request = { kind: 'read', asked: link, path: link } as const;
    await expect(readText(world, request, 100)).rejects.toMatchObject({ code: 'NOT_A_FILE' });
  });

  it('reads a file', async () => {
    const path = join(dir, 'to-file');
    writeFileSync(join(dir, 'file'), 'text');
    symlinkSync('file', path);
    const world: World = { access: descriptorAccess, guard: openGuard };
    expect(await readText(world, { kind: 'read', asked: path, path }, 100)).toBe('text');
  });
});
