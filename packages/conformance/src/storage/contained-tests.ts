import { expect, it } from 'vitest';
import { appends, code, type StorageSuiteWorld, treeOf } from './storage-suite-world.js';

/** A view that is limited to a reach, if the storage has `contained`. */
export function containedTests(w: StorageSuiteWorld): void {
  it('Storage.contained calls beforeChange for what is within reach, and for no denial', async () => {
    const { folder } = await w.withFiles();
    const view = w.storage.contained?.({
      read: [`${folder}/sub`],
      write: [`${folder}/sub`, `${folder}/drop`],
      deny: [`${folder}/sub/denied/deep`],
    });
    if (view === undefined) return;
    await w.storage.write(`${folder}/drop/file`, 'x');
    let calls = 0;
    const beforeChange = () => {
      calls += 1;
    };
    const inside = `${folder}/sub/file`;
    await view.write(inside, 'x', { beforeChange });
    expect(calls).toBe(1);
    const before = await treeOf(w.storage, folder);
    for (const path of [folder, `${folder}/a/b`, `${folder}/sub/denied/deep/x`]) {
      const denied = [
        view.write(path, 'x', { beforeChange }),
        ...appends(view, path, { beforeChange }),
        view.mkdir(path, { beforeChange }),
        view.remove(path, { beforeChange, recursive: true }),
        view.rename(path, `${folder}/sub/x`, { beforeChange }),
        view.rename(inside, path, { beforeChange }),
        view.remove(`${folder}/sub`, { beforeChange, recursive: true }),
        view.rename(`${folder}/drop/file`, `${folder}/sub/a/shown`, { beforeChange }),
      ];
      for (const outcome of await Promise.allSettled(denied)) {
        expect(outcome).toMatchObject({ reason: { code: 'PATH_NOT_REACHABLE' } });
      }
    }
    expect(calls).toBe(1);
    expect(await treeOf(w.storage, folder)).toEqual(before);
  });

  it('Storage.contained holds every method to the reach, where it is offered', async () => {
    if (w.storage.contained === undefined) return;
    const folder = w.fresh();
    const outside = `${folder}/outside/file`;
    const denied = `${folder}/in/denied/file`;
    await w.storage.write(`${folder}/in/file`, 'x');
    await w.storage.write(outside, 'secret');
    await w.storage.write(denied, 'secret');
    const reach = { read: [`${folder}/in`], write: [`${folder}/in`] };
    const view = w.storage.contained({ ...reach, deny: [`${folder}/in/denied`] });
    expect(await view.read(`${folder}/in/file`)).toBe('x');
    await view.write(`${folder}/in/other`, 'y');
    expect(await w.storage.read(`${folder}/in/other`)).toBe('y');
    for (const path of [outside, denied, `${folder}/in/../outside/file`, `${folder}/input`]) {
      const calls = [
        view.read(path),
        view.readBytes(path),
        view.write(path, 'x'),
        ...appends(view, path),
        view.exists(path),
        view.list(path),
        view.listEntries(path),
        view.mtime(path),
        view.mkdir(path),
        view.remove(path, { recursive: true }),
        view.rename(path, `${folder}/in/stolen`),
        view.rename(`${folder}/in/file`, path),
      ];
      for (const outcome of await Promise.allSettled(calls)) {
        expect(outcome).toMatchObject({
          status: 'rejected',
          reason: { code: 'PATH_NOT_REACHABLE', name: 'BoundaryError' },
        });
      }
    }
    const boundary = code('PATH_NOT_REACHABLE');
    const root = view.remove(`${folder}/in`, { recursive: true });
    await expect(root).rejects.toEqual(boundary);
    const moved = view.rename(`${folder}/in`, `${folder}/in/x`);
    await expect(moved).rejects.toEqual(boundary);
    expect(await w.storage.read(outside)).toBe('secret');
    expect(await w.storage.read(denied)).toBe('secret');
    expect(await w.storage.exists(`${folder}/input`)).toBe(false);
  });

  it('Storage.contained of a view only narrows', async () => {
    const folder = w.fresh();
    await w.storage.write(`${folder}/a/b/file`, 'x');
    await w.storage.write(`${folder}/a/file`, 'x');
    const outer = w.storage.contained?.({ read: [`${folder}/a/b`], write: [] });
    const inner = outer?.contained?.({ read: [folder], write: [folder] });
    if (inner === undefined) return;
    expect(await inner.read(`${folder}/a/b/file`)).toBe('x');
    const boundary = code('PATH_NOT_REACHABLE');
    await expect(inner.read(`${folder}/a/file`)).rejects.toEqual(boundary);
    await expect(inner.write(`${folder}/a/b/file`, 'y')).rejects.toEqual(boundary);
  });
}
