import { expect, it } from 'vitest';
import { codeOf } from '../code-of.js';
import { HOSTILE_IDS } from '../hostile-ids.js';
import { add, type MemoryWorld } from './memory-world.js';

/** No scope reaches the memory of another, whatever the ids are. */
export function scopeTests(w: MemoryWorld): void {
  it('no scope reaches the memory of another, whatever the ids are', async () => {
    for (const [index, id] of HOSTILE_IDS.entries()) {
      await w.memory.change(id, add('Mark', `marker${index} word`));
    }
    for (const [index, id] of HOSTILE_IDS.entries()) {
      expect(await w.sectionsOf(id)).toEqual([{ heading: 'Mark', text: `marker${index} word` }]);
      expect(await w.memory.search(id, 'word')).toHaveLength(1);
      expect(await w.memory.search(id, `marker${(index + 1) % HOSTILE_IDS.length}`)).toEqual([]);
      expect(await w.memory.versions(id)).toHaveLength(1);
    }
  });

  it.each(['\ud800', 'a\udc00'])('the id %j, which no store keeps, is KEY_INVALID', async (id) => {
    expect(await codeOf(w.memory.read(id))).toBe('KEY_INVALID');
    expect(await codeOf(w.memory.change(id, add('A', 'x')))).toBe('KEY_INVALID');
    expect(await codeOf(w.memory.search(id, 'x'))).toBe('KEY_INVALID');
    expect(await codeOf(w.memory.versions(id))).toBe('KEY_INVALID');
  });
}
