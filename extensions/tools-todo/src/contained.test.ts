import { assertContained, type ContainmentOptions } from '@ethosagent/conformance';
import { countTries, inCheck, seedOfRun } from '@ethosagent/test-support';
import type { AnyTool, ToolContext } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { formatList } from './stored-list.js';
import { LIST_KEY } from './todo-store.js';
import { createTodoTools } from './todo-tools.js';

/** Calls with which each tool works, whatever an earlier one has done. */
const CALLS: Record<string, ContainmentOptions['args']> = {
  todo_set: ({ token }) => [{ items: [{ text: `mine, and ${token}`, note: 'a\nb' }] }],
  todo_add: ({ token }) => [{ items: [{ text: token }] }],
  todo_update: ({ token }) => [
    { items: [{ id: 't1', text: token, state: 'in_progress' }] },
    { items: [{ id: 't2', note: token, before: 't1' }] },
  ],
  todo_list: [{}, { all: true }],
  todo_clear: [{}, { keep_open: true }],
};

describe('assertContained finds nothing that it reached', () => {
  for (const tool of inCheck(createTodoTools(), ({ name }) => name === 'todo_update')) {
    it(`by ${tool.name}`, async (context) => {
      const args = CALLS[tool.name] ?? {};
      const { tries, unused } = await assertContained(
        tool.name === 'todo_update' ? withItems(tool) : tool,
        {
          args,
          seed: seedOfRun(),
          settings: tool.name === 'todo_add' ? { max_items: 500 } : {},
        },
      );
      expect(unused).toEqual([]);
      for (const [promised, count] of tries) countTries(context, promised, count);
    });
  }
});

/** The tool, after something put two items into the list: without any there is nothing to change. */
function withItems(tool: AnyTool): AnyTool {
  const { input = expect.fail('it has no input') } = tool;
  const items = ['t1', 't2'].map((id) => ({ id, text: 'x', state: 'pending' }) as const);
  const run = async (args: unknown, ctx: ToolContext) => {
    const { kvStore } = ctx;
    if ((await kvStore?.get(LIST_KEY)) === null) {
      await kvStore?.set(LIST_KEY, formatList({ nextId: 3, items }));
    }
    return input.run(args, ctx);
  };
  return { ...tool, input: { parse: input.parse, run } };
}
