import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { shorten, showInvisible } from '@ethosagent/policy';
import type {
  BackgroundOutput,
  BackgroundProcess,
  BackgroundProcesses,
  Tool,
  ToolResult,
} from '@ethosagent/types';
import { z } from 'zod';
import { withAccessFailures } from './access-failure.js';
import { commandOf, factsOf, noBackground, processId, stateOf } from './background.js';
import { LineCleaner } from './output/line-cleaner.js';
import { TextWatch } from './output/text-watch.js';
import { withoutLastLineEnds } from './output/without-last-line-ends.js';
import { quoteFrames } from './quote-frames.js';
import { screenResult } from './screen-result.js';
import { SHELL } from './shell.js';

const MAX_WAIT_MS = 600_000;
/** How many characters are searched for a text: as many as are kept of one process. */
const MAX_WATCHED_CHARS = 1_000_000;
const WATCHED_AT_ONCE = 100_000;
const MAX_COMMAND_CHARS = 100;

const input = z.strictObject({
  id: processId
    .optional()
    .describe(
      'The id of the command, from the answer of terminal_start. Without it, all commands are listed.',
    ),
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
    .describe(
      'Milliseconds to wait for output or the end of the command when there is nothing new.',
    ),
  until: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe('Wait until this text was written or the command ended, for at most wait_ms.'),
  screen: z
    .boolean()
    .default(false)
    .describe('For a command that was started with pty: show its screen as it is now.'),
});

/**
 * Creates `terminal_read`, which reads the output of a background process, or lists the processes.
 * Of a screen, it shows only the characters: titles, links, the clipboard and questions to the
 * terminal have no effect. Needs `process` with bash and `background`.
 *
 * @returns the tool, ready to register
 */
export function createTerminalReadTool(): Tool<z.output<typeof input>> {
  return defineTool({
    name: 'terminal_read',
    description:
      'Read the output of a command that terminal_start started, since a cursor, and see whether it still runs. Without an id, list those commands.',
    toolset: 'terminal',
    input,
    capabilities: { process: { allowedBinaries: [SHELL], background: true } },
    // It starts nothing.
    effects: [],
    outputIsUntrusted: true,
    supportsDryRun: true,
    timeoutMs: MAX_WAIT_MS + 30_000,
    execute: ({ id, cursor, wait_ms, until, screen }, ctx) =>
      withAccessFailures(async () => {
        const { background } = ctx.scopedProcess;
        if (background === undefined) return noBackground();
        if (id === undefined) return listed(await background.list());
        const maxChars = Math.max(200, ctx.resultBudgetChars - 500);
        const waitMs = ctx.dryRun === true ? 0 : wait_ms;
        if (screen) {
          const options = { cursor, waitMs };
          if (until !== undefined) await waitFor(background, id, { ...options, until });
          else await background.read(id, { ...options, maxChars: 2 });
          return screenResult(background, id, ctx.abortSignal);
        }
        if (until === undefined) {
          return rendered(await background.read(id, { cursor, maxChars, waitMs }), { cursor });
        }
        const saw = await waitFor(background, id, { cursor, until, waitMs });
        const output = await background.read(id, { cursor, maxChars });
        return rendered(output, { cursor, until, saw });
      }),
  });
}

/** Waits until a text was written after a cursor, the process ends, or the time is over. */
async function waitFor(
  background: BackgroundProcesses,
  id: string,
  { cursor, until, waitMs }: { cursor: number; until: string; waitMs: number },
): Promise<boolean> {
  const watch = new TextWatch(until);
  const endsAt = performance.now() + waitMs;
  let at = cursor;
  for (let watched = 0; watched < MAX_WATCHED_CHARS || performance.now() < endsAt; ) {
    const left = Math.max(0, Math.ceil(endsAt - performance.now()));
    const options = { cursor: at, maxChars: WATCHED_AT_ONCE, waitMs: left };
    const { chunks, cursor: next, process } = await background.read(id, options);
    watch.add(chunks);
    if (watch.seen) return true;
    if (chunks.length === 0 && (left === 0 || process.state === 'ended')) return false;
    watched += next - at;
    at = next;
  }
  return false;
}

function listed(processes: readonly BackgroundProcess[]): ToolResult {
  const lines = processes.map((process) => {
    const command = commandOf(process).replaceAll(/\s+/g, ' ');
    return `${stateOf(process)}: ${shorten(command, MAX_COMMAND_CHARS)}`;
  });
  return ok(lines.join('\n') || 'No command of terminal_start is there.', {
    structured: { processes: processes.map(factsOf) },
    // Only the output of commands may come from others.
    ...(processes.length === 0 && { untrusted: false }),
  });
}

function rendered(
  { process, chunks, cursor, droppedChars }: BackgroundOutput,
  asked: { cursor: number; until?: string; saw?: boolean },
): ToolResult {
  const streams = { stdout: '', stderr: '' };
  const lines: string[] = [`${stateOf(process)}; read on from cursor ${cursor}`];
  if (asked.until !== undefined) {
    const text = showInvisible(JSON.stringify(asked.until));
    lines.push(asked.saw === true ? `[it wrote ${text}]` : `[it did not write ${text}]`);
  }
  if (droppedChars > 0) lines.push(`[${droppedChars} characters before this are no longer kept]`);
  let last: 'stdout' | 'stderr' = 'stdout';
  for (const { stream, text } of joined(chunks)) {
    const cleaner = new LineCleaner();
    const cleaned = cleaner.add(text) + cleaner.end();
    streams[stream] += cleaned;
    const shown = quoteFrames(withoutLastLineEnds(cleaned));
    if (shown === '') continue;
    if (stream !== last) lines.push(`[${stream}]`);
    last = stream;
    lines.push(shown);
  }
  if (streams.stdout === '' && streams.stderr === '') {
    lines.push(asked.cursor === 0 ? '(no output yet)' : '(nothing new)');
  }
  return ok(lines.join('\n'), {
    structured: {
      ...factsOf(process),
      cursor,
      dropped_chars: droppedChars,
      ...(asked.saw !== undefined && { saw: asked.saw }),
      ...streams,
    },
  });
}

/**
 * Joins neighbouring pieces of one stream, so that a control sequence in two pieces is whole again.
 */
function joined(chunks: BackgroundOutput['chunks']): BackgroundOutput['chunks'] {
  const all: { stream: 'stdout' | 'stderr'; texts: string[] }[] = [];
  for (const { stream, text } of chunks) {
    const last = all.at(-1);
    if (last?.stream === stream) last.texts.push(text);
    else all.push({ stream, texts: [text] });
  }
  return all.map(({ stream, texts }) => ({ stream, text: texts.join('') }));
}
