import { assertContained, type ContainmentOptions } from '@ethosagent/conformance';
import { countTries, inCheck, isLongRun, seedOfRun, unlessLong } from '@ethosagent/test-support';
import type { AnyTool, CapabilityName } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { terminalArguments } from './shell.js';
import { createTerminalTools } from './terminal-tools.js';

/** Calls with which each tool works, whatever an earlier one has done. */
const CALLS: Record<string, ContainmentOptions['args']> = {
  // The program reads the file, not the tool, so the program may follow a link that was swapped meanwhile.
  terminal: isLongRun()
    ? [{ command: 'echo mine; echo and more >&2; seq 1 9000' }, { command: 'ls', cwd: 'docs' }]
    : [{ command: 'ls; echo and more >&2; seq 1 9000', cwd: 'docs' }],
  terminal_start: [{ command: 'echo started; sleep 1' }],
  terminal_read: [{}],
  terminal_send_keys: [{ id: 'own', text: 'hello', keys: ['Enter'], wait_ms: 100 }],
  terminal_stop: [{ id: 'own' }],
};

// The working folder of a process must be in reach. There is no access through `scopedFs`.
const UNUSED: Record<string, CapabilityName[]> = {
  terminal_start: ['fs_reach.read', 'fs_reach.write'],
};
/** What runs for the tools that need a running process, since a new session has none. */
const OWN: Record<string, string[]> = {
  terminal_send_keys: terminalArguments('cat'),
  terminal_stop: ['-c', 'sleep 60'],
};

/** Starts the process that a call names as its own, and calls the tool with its id. */
function startsItsOwn(tool: AnyTool): AnyTool {
  const script = OWN[tool.name];
  if (script === undefined) return tool;
  // With `input`, a batch would not call `execute`, which parses too.
  const { input: _, ...rest } = tool;
  return {
    ...rest,
    async execute(args, ctx) {
      if (args.id !== 'own') return tool.execute(args, ctx);
      const keepsInput = tool.name === 'terminal_send_keys';
      const own = await ctx.scopedProcess?.background?.start('bash', script, { keepsInput });
      return tool.execute({ ...args, id: own?.id }, ctx);
    },
  };
}

/** Those that have most to do with processes; a long run tries all. Floods of output: terminal.test.ts. */
const scenarios: Pick<ContainmentOptions, 'scenarios'> = unlessLong({
  scenarios: ['hostile arguments', 'aborts'],
});

describe('assertContained finds nothing that it reached', () => {
  for (const tool of inCheck(createTerminalTools(), ({ name }) => name === 'terminal')) {
    it(`by ${tool.name}`, async (context) => {
      const args = CALLS[tool.name] ?? {};
      const { tries, unused } = await assertContained(startsItsOwn(tool), {
        args,
        ...scenarios,
        seed: seedOfRun(),
      });
      expect(unused).toEqual(UNUSED[tool.name] ?? []);
      for (const [promised, count] of tries) countTries(context, promised, count);
    });
  }
});
