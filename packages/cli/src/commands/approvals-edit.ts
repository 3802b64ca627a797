import { usageError } from '../cli-error.js';
import { type CommandInput, textOption } from '../command-spec.js';
import { decideCall } from '../decide-call.js';
import { namedCall } from '../named-call.js';
import { safeText } from '../output.js';
import { parseArgs } from '../parse-args.js';

/**
 * Approves a waiting call with other arguments: from the command line, typed at the terminal, or
 * from standard input.
 */
export async function run(input: CommandInput): Promise<number> {
  const { io, out } = input.context;
  const call = await namedCall(input);
  const given = textOption(input.options, 'args');
  const reason = textOption(input.options, 'reason');
  if (given === undefined && io.ask !== undefined) {
    out.note(safeText(JSON.stringify(call.approval.args, null, 2) ?? ''));
  }
  const text = given ?? (await (io.ask?.('The arguments as JSON: ') ?? io.readInput())) ?? '';
  if (text.trim() === '') throw usageError('there are no new arguments, so nothing was decided');
  const said = {
    approved: true,
    args: parseArgs(text),
    ...(reason !== undefined && { reason }),
  };
  return decideCall(call, said, input);
}
