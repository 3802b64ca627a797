import type { SecretDeclaration, ServiceDeclaration, ToolCapabilities } from '@ethosagent/types';
import type { McpRemoteServer, McpServerConfig } from './config.js';
import { mcpServerPart } from './names.js';
import { type McpTemplate, secretsOf } from './templates.js';

/** The capabilities of a server, or why they can't be derived. */
export type DeclarationResult =
  | { ok: true; declaration: ServiceDeclaration }
  | { ok: false; reason: string };

/** Returns the ref of the secret for a variable of a server. */
export function secretRef(server: string, variable: string): string {
  return `mcp/${mcpServerPart(server)}/${variable}`;
}

/**
 * Derives the capabilities of a server and its tools. A program gets its binary, its secrets, and
 * the reach of the personality. A remote server gets its host, the hosts of its authorization, and
 * its secrets.
 *
 * @param variables the variables of the host, e.g. `workspaceFolder`
 */
export function declarationOf(
  server: McpServerConfig,
  variables: ReadonlyMap<string, string>,
): DeclarationResult {
  const name = `mcp:${mcpServerPart(server.name)}`;
  if (server.kind === 'process') {
    const { args, env, cwd } = server;
    const unknown = unknownIn(server.command, variables);
    if (unknown !== undefined) {
      return {
        ok: false,
        reason: `its command has \${${unknown}}, which is no secret's place and nothing that the host gives`,
      };
    }
    const command = plainText(server.command, variables);
    const names = secretsOf([...args, ...env.values(), ...(cwd === undefined ? [] : [cwd])]);
    const secrets = names.map((variable) => secretRef(server.name, variable));
    return {
      ok: true,
      declaration: {
        name,
        capabilities: {
          process: { allowedBinaries: [command] },
          fs_reach: { read: 'from-personality', write: 'from-personality' },
          // These hosts are for a program in a sandbox. Without a sandbox, nothing limits its network.
          network: { allowedHosts: ['*'] },
          ...(secrets.length === 0 ? {} : { secrets }),
        },
      },
    };
  }
  const host = hostOf(server, variables);
  if (host === undefined) {
    const names = server.url.flatMap((part) => (typeof part === 'string' ? [] : [part.name]));
    const variablesIn = names.map((variable) => `\${${variable}}`).join(', ');
    const but = names.length === 0 ? '' : `, but has ${variablesIn}`;
    return {
      ok: false,
      reason: `its url is not one of http or https with a host that is spelt out${but}`,
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
  // For a bound secret, nobody can ask whether it exists. A default needs this answer, so a secret with a
  // default is not bound.
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

/** Finds the host of a URL. The host may not have a secret, unless the secret has a default. */
function hostOf(
  { url }: McpRemoteServer,
  variables: ReadonlyMap<string, string>,
): string | undefined {
  const stand = 'ethos-variable';
  const text = url
    .map((part) => {
      if (typeof part === 'string') return part;
      // A secret that names another host than its default leads to one that is not declared.
      return (part.kind === 'host' ? variables.get(part.name) : part.fallback) || stand;
    })
    .join('');
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) return undefined;
  if (parsed.hostname === '' || parsed.host.includes(stand)) return undefined;
  return parsed.hostname.replace(/^\[|\]$/g, '');
}

/** Finds a variable in a template that has no value without a secret. */
function unknownIn(
  template: McpTemplate,
  variables: ReadonlyMap<string, string>,
): string | undefined {
  for (const part of template) {
    if (typeof part === 'string') continue;
    if (part.kind !== 'host' || !variables.has(part.name)) return part.name;
  }
  return undefined;
}

/** Returns the variables of the host: those that the bridge sets, and those of its options. */
export function variablesOf({
  workingDir,
  variables,
}: {
  workingDir?: string;
  variables?: Readonly<Record<string, string>>;
}): ReadonlyMap<string, string> {
  const own = workingDir === undefined ? {} : { workspaceFolder: workingDir, cwd: workingDir };
  return new Map(Object.entries({ ...own, '/': '/', ...variables }));
}

/** Returns what the tools of a server declare. */
export function capabilitiesOf(
  server: McpServerConfig,
  variables: ReadonlyMap<string, string>,
): ToolCapabilities {
  const declared = declarationOf(server, variables);
  return declared.ok ? declared.declaration.capabilities : {};
}

/** Returns the text of a template that has only variables of the host. */
function plainText(template: McpTemplate, variables: ReadonlyMap<string, string>): string {
  return template
    .map((part) => (typeof part === 'string' ? part : (variables.get(part.name) ?? '')))
    .join('');
}
