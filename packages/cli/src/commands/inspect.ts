import { once } from 'node:events';
import { errorText } from '@ethosagent/policy';
import { usageError } from '../cli-error.js';
import type { CommandInput } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { openInspectorRuntime } from '../inspect/inspector-runtime.js';
import { startInspector } from '../inspect/start-inspector.js';
import { safeText } from '../output.js';
import { PinnedServers } from '../pinned-servers.js';
import { portOption } from '../port-option.js';

/** Serves the inspector's page until Ctrl-C. */
export async function run({ context, options }: CommandInput): Promise<number> {
  const { io, out, home } = context;
  const port = portOption(options);
  if (!out.isJson && io.isTerminal !== true) {
    throw usageError(
      'the address opens the inspector, and is printed only at a terminal; run it there, or give --json to have it printed all the same',
    );
  }
  const runtime = await openInspectorRuntime(context);
  const { url, close } = await startInspector({
    home,
    cwd: io.cwd,
    runtime,
    servers: new PinnedServers(context),
    by: `${io.user ?? 'somebody'} in the inspector`,
    ...(port !== undefined && { port }),
    onDefect: (error) => out.note(`${out.color.red('error')}: ${safeText(errorText(error))}`),
  });
  if (out.isJson) out.jsonLine({ url });
  else {
    out.line(url);
    out.note('Open it in a browser of this machine. It works once. Ctrl-C ends it.');
  }
  try {
    await (io.signal === undefined ? new Promise(() => {}) : untilAborted(io.signal));
  } finally {
    await close();
  }
  return EXIT.ok;
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
