import { randomUUID } from 'node:crypto';
import { askAtTerminal } from '../ask-at-terminal.js';
import { type CommandInput, hasOption, textOption } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { safeText } from '../output.js';
import { parseArgs } from '../parse-args.js';
import { tellResult } from '../tell-result.js';

/** Runs one tool under a personality, with the protections of a session. */
export async function run({ context, args, options }: CommandInput): Promise<number> {
  const { io, out } = context;
  const [name = '', given] = args;
  const text = given === '-' ? await io.readInput() : (given ?? '');
  const input = text.trim() === '' ? {} : parseArgs(text);
  const runtime = await context.openRuntime();
  const session = runtime.session(textOption(options, 'session') ?? `cli-${randomUUID()}`, {
    approve: hasOption(options, 'yes')
      ? () => ({ approved: true, by: 'ethosagent call --yes' })
      : io.ask === undefined
        ? () => 'later'
        : askAtTerminal(context, () => runtime),
  });
  const call = { toolCallId: `call-${randomUUID()}`, name, args: input };
  const [result] = await session.execute([call], {
    dryRun: hasOption(options, 'dryRun'),
    ...(io.signal !== undefined && { abortSignal: io.signal }),
    onProgress: (event) => {
      if (!out.isJson && event.message !== undefined) out.note(safeText(event.message));
    },
  });
  await session.end();
  if (result === undefined) return EXIT.failed;
  if (out.isJson) out.json(result);
  else tellResult(result, { session: session.id, out });
  return result.result.ok ? EXIT.ok : EXIT.found;
}
