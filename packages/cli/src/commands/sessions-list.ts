import { isLedgerSession } from '@ethosagent/core';
import type { CommandInput } from '../command-spec.js';
import { countOption } from '../count-option.js';
import { EXIT } from '../exit-codes.js';
import { counted, safeLine } from '../output.js';

const LIMIT = 50;

/** Lists the sessions of the home, the newest first. */
export async function run({ context, options }: CommandInput): Promise<number> {
  const { out } = context;
  const sessions = await context.openSessions();
  const limit = countOption(options, 'limit') ?? LIMIT;
  // The list also contains the sessions in which protections are stored.
  const all = await sessions.list({ limit: limit * 3 });
  const shown = all.filter(({ id }) => !isLedgerSession(id)).slice(0, limit);
  if (out.isJson) out.json(shown);
  else {
    out.table(
      shown.map(({ id, key = '', personalityId = '', lastMessageAt, messageCount }) => [
        out.color.bold(safeLine(id)),
        new Date(lastMessageAt).toISOString(),
        safeLine(personalityId),
        counted(messageCount, ['message', 'messages']),
        safeLine(key),
      ]),
    );
    if (shown.length === 0) out.note('there are no sessions; "ethosagent run PROMPT" begins one');
  }
  return EXIT.ok;
}
