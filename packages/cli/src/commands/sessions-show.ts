import type { CommandInput } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { safeLine, safeText } from '../output.js';
import { sessionInfo, sessionMessages } from '../session-messages.js';

/** Shows the messages of a session in readable form. */
export async function run({ context, args: [id = ''] }: CommandInput): Promise<number> {
  const { out } = context;
  const sessions = await context.openSessions();
  await sessionInfo(sessions, id);
  for await (const message of sessionMessages(sessions, id)) {
    if (out.isJson) {
      out.jsonLine(message);
      continue;
    }
    // Internal records of a turn have no text.
    if (message.text === '') continue;
    const who =
      message.toolName === undefined ? message.role : `${message.role} ${message.toolName}`;
    const time = new Date(message.createdAt).toISOString();
    out.line(`${out.color.bold(safeLine(who))} ${out.color.dim(time)}`);
    out.line(safeText(message.text));
    out.line();
  }
  return EXIT.ok;
}
