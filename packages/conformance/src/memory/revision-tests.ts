import { expect, it } from 'vitest';
import { codeOf } from '../code-of.js';
import { add, type MemoryWorld } from './memory-world.js';

/** Revisions and versions, and changes that are made at once. */
export function revisionTests(w: MemoryWorld): void {
  it('a change that changes nothing keeps the revision and makes no version', async () => {
    const scope = await w.made(add('A', 'x'));
    const before = await w.memory.read(scope);
    const versions = await w.memory.versions(scope);
    expect(await w.memory.change(scope, { kind: 'replace', section: 'A', text: 'x' })).toEqual(
      before,
    );
    expect(await w.memory.versions(scope)).toEqual(versions);
  });

  it('expectedRevision lets one of many changes at once through', async () => {
    const scope = await w.made(add('A', 'x'));
    const { revision: expectedRevision } = await w.memory.read(scope);
    const codes = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        codeOf(w.memory.change(scope, add('A', `${i}`), { expectedRevision })),
      ),
    );
    expect(codes.sort()).toEqual([...Array(9).fill('MEMORY_CHANGED'), 'done']);
  });

  it('changes at once are all kept', async () => {
    const scope = w.fresh();
    const texts = Array.from({ length: 30 }, (_, i) => `entry ${i}.`);
    await Promise.all(texts.map((text) => w.memory.change(scope, add('A', text))));
    const [section] = await w.sectionsOf(scope);
    expect(section?.text.split('\n\n').sort()).toEqual([...texts].sort());
  });

  it('versions are what was replaced, the newest first, and not endless', async () => {
    const scope = await w.made(add('A', '0'));
    const revisions: string[] = [];
    for (let i = 1; i <= 60; i++) {
      revisions.unshift((await w.memory.read(scope)).revision);
      w.now += 1_000;
      await w.memory.change(scope, { kind: 'replace', section: 'A', text: `${i}` });
    }
    const versions = await w.memory.versions(scope);
    expect(versions.length).toBeGreaterThan(0);
    expect(versions.length).toBeLessThan(60);
    expect(versions.map(({ revision }) => revision)).toEqual(revisions.slice(0, versions.length));
    expect(versions[0]).toMatchObject({
      replacedAt: w.now,
      sections: [{ heading: 'A', text: '59' }],
    });
    expect(await w.memory.versions(scope, { limit: 2 })).toEqual(versions.slice(0, 2));
  });

  it('what was read is not changed by a later change', async () => {
    const scope = await w.made(add('A', 'x'));
    const before = await w.memory.read(scope);
    const copy = structuredClone(before);
    await w.memory.change(scope, add('A', 'y'));
    expect(before).toEqual(copy);
  });
}
