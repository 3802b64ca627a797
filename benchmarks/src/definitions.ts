import { DefaultToolRegistry } from '@ethosagent/core';
import { sideBySide } from './side-by-side.js';

const TOOLS = 10_000;

/** `toDefinitions` with an allow list of 10,000 names, beside the least that it could be. */
export async function run(): Promise<void> {
  const registry = new DefaultToolRegistry();
  const names = Array.from({ length: TOOLS }, (_, index) => `tool_${index}`);
  const tools = names.map((name) => ({
    name,
    description: `Does ${name}.`,
    schema: { type: 'object' },
    capabilities: {},
    execute: async () => ({ ok: true as const, value: '' }),
  }));
  registry.registerAll(tools);
  const map = () =>
    tools.map(({ name, description, schema }) => ({ name, description, parameters: schema }));
  await sideBySide('Definitions of 10,000 tools', [
    { name: 'array.map', operations: 1, run: map },
    {
      name: 'toDefinitions, the same list again',
      operations: 1,
      run: () => registry.toDefinitions(names),
      goal: { atMost: 1.2, of: 'array.map' },
    },
    {
      name: 'toDefinitions, a new list each time',
      operations: 1,
      run: () => registry.toDefinitions([...names]),
      goal: { atMost: 2, of: 'array.map' },
    },
  ]);
}
