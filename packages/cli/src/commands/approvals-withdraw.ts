import type { CommandInput } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { namedCall } from '../named-call.js';
import { safeLine } from '../output.js';

/**
 * Withdraws a waiting call, decided or not, or removes one that may have run from the list. Exits
 * with 1 if it has already run or was withdrawn.
 */
export async function run(input: CommandInput): Promise<number> {
  const { out } = input.context;
  const { sessionId, from, approval, begunAt, withdraw } = await namedCall(input);
  const { toolCallId, toolName } = approval;
  const withdrawn = await withdraw();
  if (out.isJson) out.json({ sessionId, from, toolCallId, toolName, withdrawn });
  else {
    const call = `${safeLine(toolName)} ${safeLine(toolCallId)} of the session ${safeLine(sessionId)}`;
    const done =
      begunAt === undefined ? `withdrew ${call}` : `removed ${call} from the list; it may have run`;
    out.line(withdrawn ? done : `${call} waits no more, so nothing was withdrawn`);
  }
  return withdrawn ? EXIT.ok : EXIT.found;
}
