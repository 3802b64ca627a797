import type { CommandInput } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { McpFile } from '../mcp-file.js';
import { safeLine } from '../output.js';

/** Removes a server from `mcp.json`. Exits with 1 if it was not there. */
export async function run({ context, args: [server = ''] }: CommandInput): Promise<number> {
  const { out } = context;
  const file = await McpFile.open(context.home);
  const removed = file.names.includes(server);
  if (removed) await file.set(server, undefined);
  if (out.isJson) out.json({ file: file.path, server, removed });
  else if (!removed) out.line(`there is no server ${safeLine(server)} in ${file.path}`);
  else {
    out.line(`removed ${safeLine(server)} from ${file.path}`);
    out.note(
      'Its secrets stay, and so does what was accepted of it; see "ethosagent secrets list".',
    );
  }
  return removed ? EXIT.ok : EXIT.found;
}
