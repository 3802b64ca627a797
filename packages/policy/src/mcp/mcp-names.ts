import { createHash } from 'node:crypto';

const MAX_NAME = 64;
const MAX_SERVER = 32;
// The name of a server must not contain the separator between server and tool, nor end with a part
// of it.
const PLAIN_SERVER = /^[a-zA-Z0-9]+(?:[_-][a-zA-Z0-9]+)*$/;
const PLAIN_TOOL = /^[a-zA-Z0-9_-]+$/;
const MAPPED_SERVER = /-x[0-9a-f]{8}$/;
const MAPPED_TOOL = /-x[0-9a-f]{12}$/;

/** The tools of the bridge itself; a server's tool of such a name is mapped. */
export const MCP_BRIDGE_TOOLS = [
  'list_resources',
  'read_resource',
  'list_prompts',
  'get_prompt',
] as const;
const RESERVED: ReadonlySet<string> = new Set(MCP_BRIDGE_TOOLS);

const PREFIX = 'mcp__';
const MCP_TOOL = /^mcp__(.+?)__./s;

/**
 * Whether a name has the form for a tool of a server. A model may give any value as a name, also
 * one that is no text.
 *
 * @param name any value
 * @returns whether it is a string that begins with `mcp__`
 */
export function isMcpToolName(name: unknown): name is string {
  return typeof name === 'string' && name.startsWith(PREFIX);
}

/**
 * The server in a name of the form `mcp__<server>__<tool>`, both parts non-empty.
 *
 * @param name of a tool
 * @returns the part for the server, or `undefined` for a name of another form
 */
export function mcpServerOf(name: string): string | undefined {
  return MCP_TOOL.exec(name)?.[1];
}

/**
 * The beginning of the names of a server's tools: `mcp__<server>__`.
 *
 * @param server its name in the configuration
 * @returns the prefix
 */
export function mcpToolPrefix(server: string): string {
  return `${PREFIX}${mcpServerPart(server)}__`;
}

/**
 * A server's name as a part of the names of its tools, and of the refs of its secrets. A name of
 * letters, digits, and single `_` and `-` between them stays as it is, up to 32 characters.
 *
 * @param server its name in the configuration
 * @returns the part; another name gets a readable part and eight digits of its hash
 */
export function mcpServerPart(server: string): string {
  const plain =
    PLAIN_SERVER.test(server) && server.length <= MAX_SERVER && !MAPPED_SERVER.test(server);
  return plain ? server : `${readable(server, MAX_SERVER - 10)}-x${digest(server).slice(0, 8)}`;
}

/**
 * Whether a list of servers has a server. The list may have its name, or the part of the names of
 * its tools.
 *
 * @param list as `mcp_servers` of a personality; absent for all servers
 * @param server its name in the configuration
 */
export function hasMcpServer(list: readonly string[] | undefined, server: string): boolean {
  return list === undefined || list.includes(server) || list.includes(mcpServerPart(server));
}

/**
 * The name of a server's tool in the registry: `mcp__<server>__<tool>`, of letters, digits, `_` and
 * `-`, 64 characters at most. A name that does not fit this, or that the bridge has taken, gets a
 * part of its hash, so that two tools never get the same name.
 *
 * @param server its name in the configuration
 * @param tool its name as the server says it
 * @returns the name in the registry
 */
export function mcpToolName(server: string, tool: string): string {
  const prefix = mcpToolPrefix(server);
  const room = MAX_NAME - prefix.length;
  const plain =
    PLAIN_TOOL.test(tool) && tool.length <= room && !MAPPED_TOOL.test(tool) && !RESERVED.has(tool);
  if (plain) return prefix + tool;
  return `${prefix}${readable(tool, room - 14)}-x${digest(tool).slice(0, 12)}`;
}

function readable(text: string, maxChars: number): string {
  const parts = text
    .slice(0, 200)
    .normalize('NFKD')
    .split(/[^a-zA-Z0-9]+/)
    .filter((part) => part !== '');
  return parts.join('_').slice(0, maxChars).replace(/_$/, '') || 'tool';
}

// Uses JSON, which keeps lone surrogates apart. In UTF-8 they would all be the same.
function digest(text: string): string {
  return createHash('sha256').update(JSON.stringify(text)).digest('hex');
}
