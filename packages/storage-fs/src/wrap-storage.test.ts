import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestFolder } from '@ethosagent/test-support';
import type { Storage } from '@ethosagent/types';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FsStorage } from './fs-storage.js';
import { ScopedStorage } from './scoped-storage.js';
import { type AroundStorage, wrapStorage } from './wrap-storage.js';

function world() {
  const folder = createTestFolder('wrap-storage');
  onTestFinished(folder.remove);
  const [inside, outside] = [join(folder.dir, 'in'), join(folder.dir, 'out')];
  for (const path of [inside, outside]) mkdirSync(path);
  writeFileSync(join(inside, 'file'), 'inside');
  writeFileSync(join(outside, 'secret'), 'SECRET');
  symlinkSync(outside, join(inside, 'link'));
  return { inside, outside, reach: { read: [inside], write: [inside] } };
}

const plainly: AroundStorage = (_call, run) => run();

describe('wrapStorage', () => {
  it.each<
    [
      string,
      (
        storage: Storage,
        reach: Parameters<NonNullable<Storage['contained']>>[0],
      ) => Storage | undefined,
    ]
  >([
    ['its contained view', (storage, reach) => storage.contained?.(reach)],
    ['a view of that', (storage, reach) => storage.contained?.(reach).contained?.(reach)],
    ['ScopedStorage over it', (storage, reach) => new ScopedStorage(storage, reach)],
    ['it wrapped again', (storage, reach) => wrapStorage(storage, plainly).contained?.(reach)],
  ])('%s keeps links from leaving the reach', async (_what, viewOf) => {
    const { inside, outside, reach } = world();
    const view = viewOf(wrapStorage(new FsStorage(), plainly), reach);
    expect(await view?.read(join(inside, 'file'))).toBe('inside');
    const denied = expect.objectContaining({ code: 'PATH_NOT_REACHABLE' });
    await expect(view?.read(join(inside, 'link', 'secret'))).rejects.toEqual(denied);
    await expect(view?.write(join(inside, 'link', 'secret'), 'x')).rejects.toEqual(denied);
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('SECRET');
  });

  it('sees every call, with its answer or its refusal', async () => {
    const { inside, reach } = world();
    const seen: unknown[] = [];
    const storage = wrapStorage(new FsStorage(), async ({ operation, path, to }, run) => {
      try {
        const answer = await run();
        seen.push([operation, path, to, 'done']);
        return answer;
      } catch (error) {
        seen.push([operation, path, to, Reflect.get(Object(error), 'code')]);
        throw error;
      }
    });
    const view = storage.contained?.(reach);
    const [a, b] = [join(inside, 'a'), join(inside, 'b')];
    await view?.write(a, 'text');
    await view?.append?.(a, 'more');
    await view?.rename(a, b);
    await view?.read(join(inside, 'link', 'secret')).catch(() => {});
    expect(seen).toEqual([
      ['write', a, undefined, 'done'],
      ['append', a, undefined, 'done'],
      ['rename', a, b, 'done'],
      ['read', join(inside, 'link', 'secret'), undefined, 'PATH_NOT_REACHABLE'],
    ]);
  });

  it('can not lead a call elsewhere', async () => {
    const { inside, outside, reach } = world();
    const storage = wrapStorage(new FsStorage(), (call, run) => {
      Object.assign(call, { path: join(outside, 'secret'), to: join(outside, 'secret') });
      return run();
    });
    const view = storage.contained?.(reach);
    expect(await view?.read(join(inside, 'file'))).toBe('inside');
    await view?.write(join(inside, 'file'), 'changed');
    expect(readFileSync(join(inside, 'file'), 'utf8')).toBe('changed');
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('SECRET');
  });
});
