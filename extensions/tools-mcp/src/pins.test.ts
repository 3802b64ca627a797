import type { KeyValueStore } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import type { ListedTool } from './listed-tool.js';
import { Pins } from './pins.js';

function open() {
  const stored = new Map<string, string>();
  const store: Pick<KeyValueStore, 'get' | 'set' | 'delete'> = {
    get: async (key) => stored.get(key) ?? null,
    set: async (key, value) => void stored.set(key, value),
    delete: async (key) => void stored.delete(key),
  };
  return { stored, pins: new Pins(store) };
}

const one = (name: string, hash = name): ListedTool => ({
  definition: { name, description: '', inputSchema: {}, annotations: {} },
  hash,
});
const list = (...names: string[]) => new Map(names.map((name) => [name, one(name)]));

/** Lists tools of the server s, as its only connection does. */
async function offered(pins: Pins, ...names: string[]): Promise<string[]> {
  const listed = list(...names);
  return [...(await pins.offer('s', listed, (tool) => listed.has(tool))).keys()];
}

describe('Pins', () => {
  it('takes the first list that is not empty, and holds back what comes later until it is accepted', async () => {
    const { pins } = open();
    expect(await offered(pins)).toEqual([]);
    expect(await offered(pins, 'a', 'b')).toEqual(['a', 'b']);
    expect(await offered(pins, 'b', 'c')).toEqual(['b']);
    expect([pins.waiting('s', 'c'), pins.waiting('s', 'b')]).toEqual(['added', undefined]);
    expect(await pins.accept('s', 'c')).toEqual(['c']);
    expect(await offered(pins, 'b', 'c')).toEqual(['b', 'c']);
  });

  it('keep as much of a server that goes on naming new tools as of one that does not', async () => {
    const { pins, stored } = open();
    await offered(pins, 'first');
    const before = stored.size;
    for (let round = 0; round < 100; round++) await offered(pins, `a${round}`, `b${round}`);
    expect(stored.size).toBe(before);
    expect(pins.pending().map(({ tool }) => tool)).toEqual(['a99', 'b99']);
  });

  it('take the first list of a server anew when the server itself was accepted', async () => {
    const { pins } = open();
    await pins.check('s', one('', 'node a.js'));
    await offered(pins, 'a');
    expect(await pins.check('s', one('', 'node b.js'))).toBe(false);
    expect(await pins.accept('s', '')).toEqual(['']);
    expect(await offered(pins, 'a', 'b')).toEqual(['a', 'b']);
  });
});
