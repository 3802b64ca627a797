import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { shorten } from '@ethosagent/policy';
import type { BackgroundOutput, BackgroundProcess, Tool, ToolResult } from '@ethosagent/types';
import { z } from 'zod';
import { withAccessFailures } from './access-failure.js';
import { commandOf, factsOf, noBackground, processId, stateOf } from './background.js';
import { LineCleaner } from './output/line-cleaner.js';
import { quoteFrames } from './quote-frames.js';
import { SHELL } from './shell.js';

const MAX_WAIT_MS = 60_000;
const MAX_COMMAND_CHARS = 100;

const input = z.strictObject({
  id: processId
    .optional()
    .describe('The id that terminal_start answered with. Without it, all are listed.'),
  cursor: z
    .int()
    .min(0)
    .default(0)
    .describe('Where to read on: the cursor of the last answer. 0 is the beginning.'),
  wait_ms: z
    .int()
    .min(0)
    .max(MAX_WAIT_MS)
    .default(0)
    .describe('Milliseconds to wait for output or the end when there is nothing new.'),
});

/** Reads what a background process wrote, or lists them. Needs `process` for bash. */
export function createTerminalReadTool(): Tool<z.output<typeof input>> {
  return defineTool({
    name: 'terminal_read',
    description:
      'Read what a command of terminal_start has written since a cursor, and whether it still runs. Without an id, list those commands.',
    toolset: 'terminal',
    input,
    capabilities: { process: { allowedBinaries: [SHELL], background: true } },
    outputIsUntrusted: true,
    supportsDryRun: true,
    timeoutMs: MAX_WAIT_MS + 30_000,
    execute: ({ id, cursor, wait_ms }, ctx) =>
      withAccessFailures(async () => {
        const { background } = ctx.scopedProcess;
        if (background === undefined) return noBackground();
        if (id === undefined) return listed(await background.list());
        const maxChars = Math.max(200, ctx.resultBudgetChars - 500);
        const waitMs = ctx.dryRun === true ? 0 : wait_ms;
        return rendered(await background.read(id, { cursor, maxChars, waitMs }), cursor);
      }),
  });
}

function listed(processes: readonly BackgroundProcess[]): ToolResult {
  const lines = processes.map((process) => {
    const command = commandOf(process).replaceAll(/\s+/g, ' ');
    return `${stateOf(process)}: ${shorten(command, MAX_COMMAND_CHARS)}`;
  });
  return ok(lines.join('\n') || 'No command of terminal_start is there.', {
    structured: { processes: processes.map(factsOf) },
  });
}

function rendered(
  { process, chunks, cursor, droppedChars }: BackgroundOutput,
  asked: number,
): ToolResult {
  const streams = { stdout: '', stderr: '' };
  const lines: string[] = [`${stateOf(process)}; read on from cursor ${cursor}`];
  if (droppedChars > 0) lines.push(`[${droppedChars} characters before this are no longer kept]`);
  let last: 'stdout' | 'stderr' = 'stdout';
  for (const { stream, text } of joined(chunks)) {
    const cleaner = new LineCleaner();
    const cleaned = cleaner.add(text) + cleaner.end();
    streams[stream] += cleaned;
    const shown = quoteFrames(cleaned.replace(/\n+$/, ''));
    if (shown === '') continue;
    if (stream !== last) lines.push(`[${stream}]`);
    last = stream;
    lines.push(shown);
  }
  if (streams.stdout === '' && streams.stderr === '') {
    lines.push(asked === 0 ? '(no output yet)' : '(nothing new)');
  }
  return ok(lines.join('\n'), {
    structured: { ...factsOf(process), cursor, dropped_chars: droppedChars, ...streams },
  });
}

/** Neighbours of one stream as one, so that a sequence which was cut in two is seen whole. */
function joined(chunks: BackgroundOutput['chunks']): BackgroundOutput['chunks'] {
  const all: { stream: 'stdout' | 'stderr'; texts: string[] }[] = [];
  for (const { stream, text } of chunks) {
    const last = all.at(-1);
    if (last?.stream === stream) last.texts.push(text);
    else all.push({ stream, texts: [text] });
  }
  return all.map(({ stream, texts }) => ({ stream, text: texts.join('') }));
}
