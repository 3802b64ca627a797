import { assertContained } from '@ethosagent/conformance';
import { countTries, inCheck, seedOfRun } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { createWorld, fixture, NODE } from './fixtures/world.js';

// A tool of a bridge reaches what its server's service reaches, which the other tests try. Here it is
// what comes to the tool by its call, over a connection that is there already.
describe('assertContained finds nothing that it reached', () => {
  const calls = [
    ['plain', 'mcp__h__echo', { text: 'a' }],
    ['plain', 'mcp__h__strange', {}],
    ['lists', 'mcp__h__list_prompts', {}],
    ['lists', 'mcp__h__get_prompt', { name: 'p' }],
    ['lists', 'mcp__h__read_resource', { uri: 'r://1' }],
  ] as const;
  for (const [mode, name, args] of inCheck(calls, ([, tool]) => tool === 'mcp__h__echo')) {
    it(`by ${name}`, async (context) => {
      const servers = { h: { command: NODE, args: [fixture('hostile'), mode] } };
      const world = createWorld({ servers });
      await world.bridge.start();
      const tool = world.registry.get(name);
      if (tool === undefined) throw new TypeError(`no ${name}`);
      const { tries, unused } = await assertContained(tool, { args, seed: seedOfRun() });
      for (const [promised, count] of tries) countTries(context, promised, count);
      expect(unused).toContain('process');
    });
  }
});
