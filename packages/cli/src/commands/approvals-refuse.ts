import { type CommandInput, textOption } from '../command-spec.js';
import { decideCall } from '../decide-call.js';
import { namedCall } from '../named-call.js';

/** Refuses a waiting call. */
export async function run(input: CommandInput): Promise<number> {
  const reason = textOption(input.options, 'reason');
  const said = { approved: false, ...(reason !== undefined && { reason }) };
  return decideCall(await namedCall(input), said, input);
}
