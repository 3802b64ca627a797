import { DefaultToolRegistry } from '@ethosagent/core';
import { describe, expect, it } from 'vitest';
import * as toolsTodo from './index.js';

describe('@ethosagent/tools-todo', () => {
  it('exports what its README lists', () => {
    expect(Object.keys(toolsTodo).sort()).toEqual([
      'TODO_STATES',
      'createTodoTools',
      'todoAddTool',
      'todoClearTool',
      'todoListTool',
      'todoSetTool',
      'todoUpdateTool',
    ]);
  });

  it.each(toolsTodo.createTodoTools().map((tool) => [tool.name, tool] as const))(
    '%s declares the store of the session and nothing else',
    (_name, tool) => {
      expect(tool.capabilities).toEqual({ storage: { scope: 'session', kind: 'kv' } });
      expect(tool.toolset).toBe('todo');
      expect(tool.supportsDryRun).toBe(true);
      expect(tool.outputIsUntrusted).toBeUndefined();
    },
  );

  it('has definitions that a model can be given, each argument with a description', () => {
    const registry = new DefaultToolRegistry({});
    registry.registerAll(toolsTodo.createTodoTools());
    expect(registry.validateToolsForPersonality({ id: 'p', name: 'P' })).toEqual([]);
    const definitions = registry.toDefinitions();
    expect(definitions.map(({ name }) => name)).toEqual([
      'todo_set',
      'todo_add',
      'todo_update',
      'todo_list',
      'todo_clear',
    ]);
    for (const { parameters } of definitions) {
      expect(parameters).toMatchObject({ type: 'object' });
      expect(undescribed(parameters)).toEqual([]);
    }
  });
});

/** Names of properties without a description, at any depth. */
function undescribed(schema: unknown): string[] {
  const { properties = {}, items }: { properties?: object; items?: unknown } = Object(schema);
  return [
    ...Object.entries(properties).flatMap(([name, property]) => [
      ...('description' in property ? [] : [name]),
      ...undescribed(property),
    ]),
    ...(items === undefined ? [] : undescribed(items)),
  ];
}
