import { diffLines } from 'diff';
import { usageError } from '../cli-error.js';
import type { CommandInput } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { hasMcpServers, NO_SERVERS, openMcpServers } from '../open-mcp.js';
import { safeLine, safeText } from '../output.js';

/**
 * Shows what changed in servers and tools since they were accepted, and what was added. Exits with 1 if something
 * changed, or a server could not be asked.
 */
export async function run({ context, args: [server] }: CommandInput): Promise<number> {
  const { out } = context;
  if (server === undefined && !(await hasMcpServers(context))) {
    if (out.isJson) out.json({ changed: [], unknown: [] });
    else out.line(NO_SERVERS);
    return EXIT.ok;
  }
  const { mcp, personality } = await openMcpServers(context);
  const isWanted = (each: { server: string }) => server === undefined || each.server === server;
  const changed = mcp.pending().filter(isWanted);
  const servers = mcp.status().filter(isWanted);
  if (server !== undefined && servers.length === 0) {
    throw usageError(`${personality} has no server ${server}; "ethosagent mcp status" shows those`);
  }
  // If a server did not answer, it is not known whether it has changed.
  const unknown = servers.filter(({ state }) => state !== 'ready');
  const isFine = changed.length === 0 && unknown.length === 0;
  if (out.isJson) {
    out.json({ changed, unknown });
    return isFine ? EXIT.ok : EXIT.found;
  }
  for (const { server, tool, old, new: now, hash } of changed) {
    out.line(out.color.bold(`${safeLine(server)} ${safeLine(tool)}`.trimEnd()));
    const before = old === undefined ? '' : linesOf(old);
    for (const { value, added, removed } of diffLines(before, linesOf(now))) {
      for (const line of value.replace(/\n$/, '').split('\n')) {
        const shown = safeText(line);
        if (added) out.line(out.color.green(`+ ${shown}`));
        else if (removed) out.line(out.color.red(`- ${shown}`));
        else out.line(`  ${shown}`);
      }
    }
    out.line(
      `accept it: ethosagent mcp accept ${safeLine(server)}${tool === '' ? '' : ` ${safeLine(tool)}`} --hash ${hash}`,
    );
  }
  for (const { server, state, reason = '' } of unknown) {
    out.line(`${out.color.yellow(state)} ${safeLine(server)}: ${safeLine(reason, 500)}`);
  }
  if (isFine) out.line('nothing changed since it was accepted');
  return isFine ? EXIT.ok : EXIT.found;
}

/**
 * Puts each line of a text on a line of its own, so that a change in a long description is visible.
 */
function linesOf(value: unknown): string {
  return `${(JSON.stringify(value, null, 2) ?? '').replaceAll('\\n', '\\n\n')}\n`;
}
