import type { SecretDeclaration, ServiceDeclaration } from '@ethosagent/types';
import type { McpRemoteServer, McpServerConfig } from './config.js';
import { mcpServerPart } from './names.js';
import { type McpTemplate, secretsOf } from './templates.js';

/** What a server may reach, or why that can't be said. */
export type DeclarationResult =
  | { ok: true; declaration: ServiceDeclaration }
  | { ok: false; reason: string };

/** The ref of the secret that stands for a variable of a server. */
export function secretRef(server: string, variable: string): string {
  return `mcp/${mcpServerPart(server)}/${variable}`;
}

/**
 * The capabilities of a server, and of its tools. A program: its binary, its secrets, and what the
 * personality reaches; a remote one: its host, that of its authorization, and its secrets.
 *
 * @param variables what the host says of itself, e.g. `workspaceFolder`
 */
export function declarationOf(
  server: McpServerConfig,
  variables: ReadonlyMap<string, string>,
): DeclarationResult {
  const name = `mcp:${mcpServerPart(server.name)}`;
  if (server.kind === 'process') {
    const { args, env, cwd } = server;
    const command = plainText(server.command, variables);
    if (command === undefined) {
      return { ok: false, reason: 'its command has a variable that the host does not give' };
    }
    const names = secretsOf([...args, ...env.values(), ...(cwd === undefined ? [] : [cwd])]);
    const secrets = names.map((variable) => secretRef(server.name, variable));
    return {
      ok: true,
      declaration: {
        name,
        capabilities: {
          process: { allowedBinaries: [command] },
          fs_reach: { read: 'from-personality', write: 'from-personality' },
          // What a program in a sandbox gets; outside of one, nothing holds a program.
          network: { allowedHosts: ['*'] },
          ...(secrets.length === 0 ? {} : { secrets }),
        },
      },
    };
  }
  const host = hostOf(server, variables);
  if (host === undefined) {
    return {
      ok: false,
      reason: 'its url is not one of http or https with a host that is spelt out',
    };
  }
  const secrets = remoteSecrets(server, host);
  return {
    ok: true,
    declaration: {
      name,
      capabilities: {
        network: { allowedHosts: [...new Set([host, ...server.oauth.hosts])] },
        ...(secrets.length === 0 ? {} : { secrets }),
      },
    },
  };
}

function remoteSecrets(server: McpRemoteServer, host: string): SecretDeclaration[] {
  const { clientId = [], clientSecret = [] } = server.oauth;
  const headers = [...server.headers.values()];
  // Of a bound secret nobody can say whether there is one, so that one with a default is not bound.
  const withDefault = headers.map((template) =>
    template.filter((part) => typeof part !== 'string' && 'fallback' in part),
  );
  const spelt = secretsOf([server.url, clientId, clientSecret, ...withDefault]);
  const bound = secretsOf(headers).filter((name) => !spelt.includes(name));
  return [
    ...spelt.map((name) => secretRef(server.name, name)),
    ...bound.map((name) => ({ ref: secretRef(server.name, name), hosts: [host] })),
  ];
}

/** The host of a url, whose secrets stand elsewhere in it. */
function hostOf(
  { url }: McpRemoteServer,
  variables: ReadonlyMap<string, string>,
): string | undefined {
  const stand = 'ethos-variable';
  const text = url
    .map((part) =>
      typeof part === 'string' ? part : (part.kind === 'host' && variables.get(part.name)) || stand,
    )
    .join('');
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) return undefined;
  if (parsed.hostname === '' || parsed.host.includes(stand)) return undefined;
  return parsed.hostname.replace(/^\[|\]$/g, '');
}

/** The text of a template without secrets. */
function plainText(
  template: McpTemplate,
  variables: ReadonlyMap<string, string>,
): string | undefined {
  let text = '';
  for (const part of template) {
    const known =
      typeof part === 'string' ? part : part.kind === 'host' && variables.get(part.name);
    if (typeof known !== 'string') return undefined;
    text += known;
  }
  return text;
}
