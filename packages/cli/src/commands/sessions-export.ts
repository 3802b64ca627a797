import type { SessionInfo, SessionMessage } from '@ethosagent/types';
import { usageError } from '../cli-error.js';
import { type CommandInput, textOption } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { type Output, safeLine, safeText } from '../output.js';
import { sessionInfo, sessionMessages } from '../session-messages.js';

/**
 * Writes a session as Markdown for people, or as JSON lines with everything that is stored: first
 * the session, then each message.
 */
export async function run({ context, args: [id = ''], options }: CommandInput): Promise<number> {
  const { out } = context;
  const format = textOption(options, 'format') ?? (out.isJson ? 'jsonl' : 'markdown');
  if (format !== 'jsonl' && format !== 'markdown') {
    throw usageError(`--format: ${format} is neither markdown nor jsonl`);
  }
  const sessions = await context.openSessions();
  const info = await sessionInfo(sessions, id);
  const isJson = format === 'jsonl';
  if (isJson) out.jsonLine({ type: 'session', ...info });
  else tellSession(info, out);
  for await (const message of sessionMessages(sessions, id)) {
    if (isJson) out.jsonLine({ type: 'message', ...message });
    else if (message.text !== '') tellMessage(message, out);
  }
  return EXIT.ok;
}

function tellSession({ id, personalityId, startedAt, lastMessageAt }: SessionInfo, out: Output) {
  out.line(`# Session ${asCode(id)}`);
  out.line();
  if (personalityId !== undefined) out.line(`- Personality: ${asCode(personalityId)}`);
  out.line(`- From ${timeOf(startedAt)} to ${timeOf(lastMessageAt)}`);
}

/** The text is fenced, so that a program that shows the file loads no image and runs no markup. */
function tellMessage({ role, toolName, text, createdAt }: SessionMessage, out: Output): void {
  const shown = safeText(text);
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  out.line();
  out.line(
    `## ${role}${toolName === undefined ? '' : ` ${asCode(toolName)}`}, ${timeOf(createdAt)}`,
  );
  out.line();
  out.line(`${fence}text\n${shown.replace(/\n$/, '')}\n${fence}`);
}

const asCode = (name: string) => `\`${safeLine(name).replaceAll('`', "'")}\``;
const timeOf = (ms: number) => new Date(ms).toISOString();
