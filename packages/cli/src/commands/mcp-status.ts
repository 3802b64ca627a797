import type { CommandInput } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { hasMcpServers, NO_SERVERS, openMcpServers } from '../open-mcp.js';
import { counted, safeLine, safeText } from '../output.js';

/** The reasons of states that have none of their own. */
const WAITS: Readonly<Record<string, string>> = {
  connecting: 'it has not answered yet; ask again, or look at how it is started',
};

/**
 * Shows the state of each server, and what has to be accepted. Exits with 1 if there is something
 * to accept, or a server failed.
 */
export async function run({ context }: CommandInput): Promise<number> {
  const { out } = context;
  const mcp = (await hasMcpServers(context)) ? (await openMcpServers(context)).mcp : undefined;
  const servers = mcp?.status() ?? [];
  const pending = mcp?.pending() ?? [];
  const isFine = pending.length === 0 && servers.every(({ state }) => state === 'ready');
  if (out.isJson) {
    out.json({ servers, pending });
    return isFine ? EXIT.ok : EXIT.found;
  }
  if (servers.length === 0) out.line(NO_SERVERS);
  for (const note of mcp?.notes ?? []) out.note(safeText(note));
  for (const { server, state, reason = WAITS[state] ?? '', refused = '', tools, held } of servers) {
    out.line(
      `${out.color.bold(safeLine(server))}  ${state}  ${counted(tools.length, ['tool', 'tools'])}  ${safeLine(reason)}`,
    );
    if (refused !== '') out.line(`  ${safeText(refused)}`);
    for (const { tool, reason } of held) {
      out.line(`  ${out.color.yellow('held back')} ${safeLine(tool)}: ${safeLine(reason)}`);
    }
  }
  for (const { server, tool, old, new: now, hash } of pending) {
    const what = old === undefined ? 'added' : 'changed';
    // The change of a server itself has no tool.
    const name = safeLine(`${server} ${tool}`.trimEnd());
    out.line(`${out.color.yellow(what)} ${name}`);
    if (old !== undefined)
      out.line(`${out.color.red('- ')}${safeText(JSON.stringify(old, null, 2) ?? '')}`);
    out.line(`${out.color.green('+ ')}${safeText(JSON.stringify(now, null, 2) ?? '')}`);
    out.line(`  accept it: ethosagent mcp accept ${name} --hash ${hash}`);
  }
  return isFine ? EXIT.ok : EXIT.found;
}
