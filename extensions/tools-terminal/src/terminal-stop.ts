import { defineTool, ok } from '@ethosagent/plugin-sdk';
import type { Tool } from '@ethosagent/types';
import { z } from 'zod';
import { withAccessFailures } from './access-failure.js';
import { factsOf, noBackground, processId, stateOf } from './background.js';
import { SHELL } from './shell.js';

const input = z.strictObject({ id: processId });

/**
 * Creates `terminal_stop`, which ends a background process with everything that it started. Needs
 * `process` with bash and `background`.
 *
 * @returns the tool, ready to register
 */
export function createTerminalStopTool(): Tool<z.output<typeof input>> {
  return defineTool({
    name: 'terminal_stop',
    description:
      'End a command that terminal_start started, with everything that it started itself. Its last output can still be read with terminal_read.',
    toolset: 'terminal',
    input,
    capabilities: { process: { allowedBinaries: [SHELL], background: true } },
    // It starts nothing.
    effects: [],
    supportsDryRun: true,
    execute: ({ id }, ctx) =>
      withAccessFailures(async () => {
        const { background } = ctx.scopedProcess;
        if (background === undefined) return noBackground();
        if (ctx.dryRun === true) {
          const { process } = await background.read(id, { maxChars: 0 });
          const ends =
            process.state === 'running' ? `${id} would be ended` : `${stateOf(process)} already`;
          return ok(`[dry-run] ${ends}.`, { structured: { dryRun: true, ...factsOf(process) } });
        }
        const process = await background.stop(id);
        return ok(`${stateOf(process)}.`, { structured: factsOf(process) });
      }),
  });
}
