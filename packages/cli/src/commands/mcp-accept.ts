import { type CommandInput, textOption } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { openMcpServers } from '../open-mcp.js';
import { safeLine } from '../output.js';

/** Accepts the present tools of a server. Exits with 1 if there was nothing to accept. */
export async function run({
  context,
  args: [server = '', tool],
  options,
}: CommandInput): Promise<number> {
  const { out } = context;
  const { mcp } = await openMcpServers(context);
  const accepted = await mcp.accept(server, tool, textOption(options, 'hash'));
  if (out.isJson) out.json({ server, accepted });
  else if (accepted.length === 0) out.line(`nothing of ${safeLine(server)} waits to be accepted`);
  // The change of a server itself has no tool.
  else for (const name of accepted) out.line(`accepted ${safeLine(name || server)}`);
  return accepted.length > 0 ? EXIT.ok : EXIT.found;
}
