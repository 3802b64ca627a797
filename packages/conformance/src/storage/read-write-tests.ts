import { expect, it } from 'vitest';
import type { StorageSuiteWorld } from './storage-suite-world.js';

/** What is read after it was written. */
export function readWriteTests(w: StorageSuiteWorld): void {
  const texts = ['', 'plain', 'a\r\nb\n', '\uFEFFbom', 'żółć 😀', '\0', '$1 $& `x`'];
  it.each(texts)('Storage.read returns the text %j as it was written', async (text) => {
    const path = `${w.fresh()}/file.txt`;
    await w.storage.write(path, text);
    expect(await w.storage.read(path)).toBe(text);
    expect(Buffer.from((await w.storage.readBytes(path)) ?? []).toString('utf8')).toBe(text);
  });

  it.each([0, 1, 127, 131_072, 131_073, 3_000_000])(
    'Storage.readBytes returns %d bytes as they were written',
    async (length) => {
      const path = `${w.fresh()}/bytes`;
      const bytes = Uint8Array.from({ length }, (_, index) => (index * 31) % 256);
      await w.storage.write(path, bytes);
      const back = await w.storage.readBytes(path);
      expect(back).toBeInstanceOf(Uint8Array);
      expect(back?.length).toBe(length);
      expect(Buffer.compare(back ?? new Uint8Array(1), bytes)).toBe(0);
    },
  );

  it('Storage.write keeps no hold on the array, and readBytes gives none away', async () => {
    const path = `${w.fresh()}/bytes`;
    const bytes = Uint8Array.of(1, 2, 3);
    const writing = w.storage.write(path, bytes);
    bytes[0] = 9;
    await writing;
    const first = await w.storage.readBytes(path);
    expect([...(first ?? [])]).toEqual([1, 2, 3]);
    first?.fill(7);
    expect([...((await w.storage.readBytes(path)) ?? [])]).toEqual([1, 2, 3]);
  });

  it('Storage.write replaces, also by less, and makes missing folders', async () => {
    const path = `${w.fresh()}/a/b/c.txt`;
    await w.storage.write(path, 'something longer');
    await w.storage.write(path, 'short');
    expect(await w.storage.read(path)).toBe('short');
  });

  it('Storage.write lets 50 writers of one path all succeed, and one of them wins', async () => {
    const folder = w.fresh();
    const values = Array.from({ length: 50 }, (_, index) => `${index}:`.repeat(2_000));
    await Promise.all(values.map((value) => w.storage.write(`${folder}/same`, value)));
    expect(values).toContain(await w.storage.read(`${folder}/same`));
    expect(await w.storage.list(folder)).toEqual(['same']);
  });
}
