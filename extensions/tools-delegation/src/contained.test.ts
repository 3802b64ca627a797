import { assertContained, type ContainmentOptions } from '@ethosagent/conformance';
import { countTries, inCheck, seedOfRun } from '@ethosagent/test-support';
import type { AnyTool, ToolContext } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { createDelegationTools } from './delegation-tools.js';

/** Calls with which each tool works. */
const CALLS: Record<string, ContainmentOptions['args']> = {
  task: ({ token }) => [{ prompt: token }],
  task_start: ({ token }) => [{ prompt: token }],
  task_status: [{}],
  task_result: [{ id: 'the newest' }],
  task_cancel: [{ id: 'the newest' }],
  read_quarantined: [
    { tool: 'read_file', args: {}, question: 'Is it there?', schema: { type: 'boolean' } },
  ],
};

describe('assertContained finds nothing that it reached', () => {
  for (const tool of inCheck(createDelegationTools(), ({ name }) => name === 'task')) {
    it(`by ${tool.name}`, async (context) => {
      const args = CALLS[tool.name] ?? {};
      const { tries, unused } = await assertContained(withATask(tool), { args, seed: seedOfRun() });
      expect(unused).toEqual([]);
      for (const [promised, count] of tries) countTries(context, promised, count);
    });
  }
});

/** The tool with a task that was started before the call, because nobody can know its id in advance. */
function withATask(tool: AnyTool): AnyTool {
  const { input = expect.fail('it has no input') } = tool;
  const run = async (args: unknown, ctx: ToolContext) => {
    const { id } = Object(args);
    if (id !== 'the newest') return input.run(args, ctx);
    const begun = await ctx.delegation?.start({ prompt: 'look' });
    return input.run({ ...Object(args), id: begun?.id ?? 'none' }, ctx);
  };
  return { ...tool, input: { parse: input.parse, run } };
}
