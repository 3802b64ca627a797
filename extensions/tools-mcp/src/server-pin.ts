import { createHash } from 'node:crypto';
import type { McpProcessServer, McpRemoteServer, McpServerConfig } from './config.js';
import { canonicalJson } from './json-message.js';
import type { ListedTool } from './listed-tool.js';
import { mcpServerPart } from './names.js';
import { expandTemplate, type McpTemplate } from './templates.js';

/** How a server is reached. Of variables and headers, it tells only the names. */
export interface McpServerIdentity {
  server: string;
  /** The part for the server in the names of its tools. */
  part: string;
  /** The command and its arguments, or the URL. Variables are not replaced by their values. */
  reached: readonly string[];
  /** The names of its environment variables, or of its headers. */
  names: readonly string[];
  /** The SHA-256 of all of this, with the texts of variables and headers. */
  pin: string;
}

/**
 * Describes how a server is reached, in the form of a tool, so that it can be pinned like one.
 * Secrets are stored under the name of the server. Without the pin, whoever changes the command
 * under this name would get them. Only the names of variables and headers are shown, because their
 * texts may contain a secret.
 */
export async function serverPin(server: McpServerConfig): Promise<ListedTool> {
  const { part, reached, names, pin } = await serverIdentity(server);
  const what = server.kind === 'process' ? 'env' : 'headers';
  const shown = [
    part,
    ...reached,
    ...(names.length === 0 ? [] : [`(${what}: ${names.join(', ')})`]),
  ];
  return {
    definition: {
      name: '',
      description: shown.join(' '),
      inputSchema: {},
      annotations: {},
    },
    hash: pin,
  };
}

/** Returns how a server is reached. Its hash does not depend on its name. */
export async function serverIdentity(server: McpServerConfig): Promise<McpServerIdentity> {
  const texts = async (named: ReadonlyMap<string, McpTemplate>) =>
    Object.fromEntries(
      await Promise.all([...named].map(async ([key, one]) => [key, await textOf(one)] as const)),
    );
  const named = await texts(server.kind === 'process' ? server.env : server.headers);
  const fixed = server.kind === 'process' ? await programOf(server) : await addressOf(server);
  return {
    server: server.name,
    part: mcpServerPart(server.name),
    reached: fixed.shown,
    names: Object.keys(named).sort(),
    pin: createHash('sha256')
      .update(canonicalJson({ ...fixed.pinned, named }))
      .digest('hex'),
  };
}

async function programOf({ command, args, cwd }: McpProcessServer) {
  const shown = await Promise.all([command, ...args].map(textOf));
  return { shown, pinned: { line: shown, cwd: await textIn(cwd) } };
}

async function addressOf({ transport, url, oauth }: McpRemoteServer) {
  const { hosts, scope = null, clientId, clientSecret } = oauth;
  const client = [await textIn(clientId), await textIn(clientSecret)];
  const shown = [await textOf(url)];
  return { shown, pinned: { transport, url: shown, hosts: [...hosts], scope, client } };
}

async function textIn(template: McpTemplate | undefined): Promise<string | null> {
  return template === undefined ? null : textOf(template);
}

/** Returns the text of a template as it is in the file, with its variables. */
function textOf(template: McpTemplate): Promise<string> {
  return expandTemplate(template, async (variable) => {
    const fallback =
      variable.kind === 'secret' && variable.fallback !== undefined ? `:-${variable.fallback}` : '';
    return `\${${variable.kind === 'secret' ? 'env:' : ''}${variable.name}${fallback}}`;
  });
}
