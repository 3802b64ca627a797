import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ForwardingStorage, openGuard } from '@ethosagent/policy';
import type { ContainedReach, Storage } from '@ethosagent/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { realPathAccess } from './access.js';
import { DenyIndex } from './deny-index.js';
import { FsStorage } from './fs-storage.js';
import { GuardedFs } from './guarded-fs.js';
import { ScopedStorage } from './scoped-storage.js';

// What holds for every contained storage is tested in `attacks.test.ts`.

let inside: string;
beforeEach(() => {
  inside = realpathSync(mkdtempSync(join(tmpdir(), 'contained-')));
  writeFileSync(join(inside, 'file'), 'hello');
});
afterEach(() => rmSync(inside, { recursive: true, force: true }));

describe('FsStorage.contained', () => {
  it('refuses a file one byte above the cap', async () => {
    const capped = new FsStorage({ maxReadBytes: 5 }).contained({ read: [inside], write: [] });
    expect(await capped.read(join(inside, 'file'))).toBe('hello');
    writeFileSync(join(inside, 'file'), 'hello!');
    await expect(capped.read(join(inside, 'file'))).rejects.toMatchObject({
      code: 'FILE_TOO_LARGE',
    });
  });

  it('names the rule in a denial', async () => {
    symlinkSync('/etc/passwd', join(inside, 'link'));
    const view = new FsStorage().contained({ read: [inside], write: [] });
    await expect(view.read(join(inside, 'link'))).rejects.toMatchObject({
      rule: 'a link leaves the reach',
    });
  });
});

const withoutDescriptors = (reach: ContainedReach) =>
  new GuardedFs(
    { access: realPathAccess, guard: openGuard },
    { maxReadBytes: 5_000, denyIndexFor: (deny) => new DenyIndex(deny) },
  ).contained(reach);

describe.each<[string, (reach: ContainedReach) => Storage]>([
  ['FsStorage without descriptors, as on other systems than Linux', withoutDescriptors],
  [
    'ScopedStorage over a storage without a contained view',
    (reach) => new ScopedStorage(new ForwardingStorage(new FsStorage()), reach),
  ],
])('%s', (_, viewOf) => {
  it('denies what a link leads to, outside and on the deny list', async () => {
    const root = join(inside, 'root');
    const outside = join(inside, 'outside');
    const denied = join(root, 'denied');
    for (const folder of [root, outside, denied]) mkdirSync(folder);
    writeFileSync(join(root, 'mine'), 'mine');
    for (const folder of [outside, denied]) writeFileSync(join(folder, 'secret'), 'SECRET');
    symlinkSync(outside, join(root, 'out'));
    symlinkSync(join(outside, 'secret'), join(root, 'leaf'));
    symlinkSync(denied, join(root, 'in'));
    const view = viewOf({ read: [root], write: [root], deny: [denied] });
    const path = (name: string) => join(root, name);
    for (const attempt of [
      () => view.read(path('leaf')),
      ...['out', 'in'].flatMap((link) => [
        () => view.read(path(`${link}/secret`)),
        () => view.readBytes(path(`${link}/secret`)),
        () => view.exists(path(`${link}/secret`)),
        () => view.mtime(path(`${link}/secret`)),
        () => view.list(path(link)),
        () => view.listEntries(path(link)),
        () => view.write(path(`${link}/new`), 'x'),
        () => view.write(path(`${link}/secret`), 'x'),
        () => Promise.resolve(view.append?.(path(`${link}/secret`), 'x')),
        () => view.mkdir(path(`${link}/new`)),
        () => view.remove(path(`${link}/secret`)),
        () => view.rename(path(`${link}/secret`), path('stolen')),
        () => view.rename(path('mine'), path(`${link}/mine`)),
      ]),
    ]) {
      await expect(attempt(), `${attempt}`).rejects.toMatchObject({ code: 'PATH_NOT_REACHABLE' });
    }
    expect(await view.read(path('mine'))).toBe('mine');
    for (const folder of [outside, denied]) {
      expect(readdirSync(folder)).toEqual(['secret']);
      expect(readFileSync(join(folder, 'secret'), 'utf8')).toBe('SECRET');
    }
  });
});

describe('FsStorage without descriptors, as on other systems than Linux', () => {
  it('denies another hard link of a denied file', async () => {
    const denied = join(inside, 'denied');
    mkdirSync(denied);
    writeFileSync(join(denied, 'secret'), 'SECRET');
    linkSync(join(denied, 'secret'), join(inside, 'same'));
    const view = withoutDescriptors({ read: [inside], write: [inside], deny: [denied] });
    await expect(view.read(join(inside, 'same'))).rejects.toMatchObject({
      code: 'PATH_NOT_REACHABLE',
    });
  });
});
