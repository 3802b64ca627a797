import { openAgent } from '../agent/open-agent.js';
import type { CommandInput } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { safeLine } from '../output.js';

/**
 * Ends the unfinished turn of a session, and keeps the session. Exits with 1 if there is no such
 * turn.
 */
export async function run({ context, args: [id = ''], options }: CommandInput): Promise<number> {
  const { out } = context;
  const info = await (await context.openSessions()).get(id);
  let abandoned = false;
  if (info !== null) {
    const { loop } = await openAgent(context, options, info);
    if ((await loop.state(id)) !== 'idle') {
      await loop.abandon(id);
      abandoned = true;
    }
  }
  const session = safeLine(id);
  if (out.isJson) out.json({ session: id, abandoned });
  else if (abandoned) out.line(`abandoned the turn of ${session}; a new one can begin`);
  else if (info === null) out.line(`there is no session ${session}`);
  else out.line(`${session} has no unfinished turn`);
  return abandoned ? EXIT.ok : EXIT.found;
}
