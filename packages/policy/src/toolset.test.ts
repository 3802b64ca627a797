import { describe, expect, it } from 'vitest';
import { meetPersonalities } from './meet-personalities.js';
import { coversTool, expandToolset } from './toolset.js';

const tools = [
  { name: 'x', toolset: 'g' },
  { name: 'y', toolset: 'x' },
  { name: 'z', toolset: 'g' },
  { name: 'own', toolset: 'own' },
  { name: 'plain' },
];
const isTool = (name: string) => tools.some((tool) => tool.name === name);
const covered = (entries: readonly string[]) =>
  tools.filter((tool) => coversTool(entries, tool, isTool)).map(({ name }) => name);

describe('coversTool and expandToolset', () => {
  it.each([
    [[], [], []],
    [['g'], ['x', 'z'], []],
    [['x'], ['x'], []],
    [['own'], ['own'], []],
    [['g', 'plain', 'none'], ['x', 'z', 'plain'], ['none']],
  ])('take %j for %j', (entries, names, unknown) => {
    expect(covered(entries)).toEqual(names);
    expect(expandToolset(entries, tools)).toEqual({ names, unknown });
  });

  it('take no list for every tool', () => {
    expect(expandToolset(undefined, tools)).toEqual({ names: undefined, unknown: [] });
  });

  it('trust in a meet no tool that one of both does not', () => {
    const trusting = (id: string, trust: string[]) => ({
      id,
      name: id,
      safety: { untrusted: { trust } },
    });
    const expand = (entries: readonly string[]) => expandToolset(entries, tools).names ?? [];
    for (const a of [['g'], ['x'], ['g', 'y'], ['z', 'x']]) {
      for (const b of [['g'], ['x'], ['y'], ['own']]) {
        const met = meetPersonalities(trusting('a', a), trusting('b', b), { expand });
        const both = covered(a).filter((name) => covered(b).includes(name));
        expect(covered(met.safety?.untrusted?.trust ?? [])).toEqual(both);
      }
    }
  });
});
