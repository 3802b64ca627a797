import { expect, it } from 'vitest';
import type { StorageSuiteWorld } from './storage-suite-world.js';

/** What an append adds, if the storage has `append`. */
export function appendTests(w: StorageSuiteWorld): void {
  it('Storage.append adds text and bytes to what is there, and makes a file and its folders', async () => {
    if (w.storage.append === undefined) return;
    const path = `${w.fresh()}/a/b/log`;
    await w.storage.append(path, 'żółć ');
    await w.storage.append(path, Uint8Array.of(0, 255, 10));
    await w.storage.append(path, '');
    const bytes = Uint8Array.of(1, 2);
    const adding = w.storage.append(path, bytes);
    bytes[0] = 9;
    await adding;
    const expected = [...Buffer.from('żółć '), 0, 255, 10, 1, 2];
    expect([...((await w.storage.readBytes(path)) ?? [])]).toEqual(expected);
    await w.storage.write(path, 'new');
    await w.storage.append(path, 'er');
    expect(await w.storage.read(path)).toBe('newer');
  });

  it('Storage.append keeps what 50 appends at once add, each whole', async () => {
    if (w.storage.append === undefined) return;
    const path = `${w.fresh()}/log`;
    const lines = Array.from({ length: 50 }, (_, index) => `${index}:`.repeat(2_000));
    await Promise.all(lines.map((line) => w.storage.append?.(path, `${line}\n`)));
    const found = (await w.storage.read(path))?.split('\n');
    expect(found?.sort()).toEqual(['', ...lines].sort());
  });

  it('Storage.append gives none of its own bytes away, and takes over none of a copy', async () => {
    if (w.storage.append === undefined) return;
    const folder = w.fresh();
    await w.storage.append(`${folder}/log`, 'a');
    await w.storage.append(`${folder}/log`, 'b');
    (await w.storage.readBytes(`${folder}/log`))?.fill(7);
    await w.storage.rename(`${folder}/log`, `${folder}/moved`);
    await w.storage.append(`${folder}/log`, 'other');
    await w.storage.append(`${folder}/moved`, 'c');
    expect(await w.storage.read(`${folder}/moved`)).toBe('abc');
    expect(await w.storage.read(`${folder}/log`)).toBe('other');
  });
}
