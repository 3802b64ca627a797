import { z } from 'zod';

/** Which tools of a server are used, by the server's own names for them. */
export interface McpToolFilter {
  /** Only these tools. All when absent. */
  include?: readonly string[];
  /** Never these tools, even if `include` has them. */
  exclude: readonly string[];
}

const texts = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));
const scopes = z.union([z.string().min(1), z.array(z.string().min(1))]);
const oauthSchema = z.object({
  hosts: z.array(z.string().min(1)).optional(),
  clientId: z.string().min(1).optional(),
  clientSecret: z.string().min(1).optional(),
  scope: z.string().min(1).optional(),
  scopes: scopes.optional(),
});
/** The key `auth` in the form of Cursor. */
export const authSchema = z.object({
  CLIENT_ID: z.string().min(1).optional(),
  CLIENT_SECRET: z.string().min(1).optional(),
  scopes: scopes.optional(),
});
const toolNames = z.array(z.string()).max(1_000);
export const entrySchema = z.object({
  type: z.string().optional(),
  transport: z.string().optional(),
  command: z.string().min(1).optional(),
  args: z.array(z.union([z.string(), z.number()])).optional(),
  env: texts.optional(),
  cwd: z.string().min(1).optional(),
  url: z.string().min(1).optional(),
  serverUrl: z.string().min(1).optional(),
  httpUrl: z.string().min(1).optional(),
  headers: texts.optional(),
  oauth: z.union([z.literal(false), oauthSchema]).optional(),
  timeout: z.number().positive().optional(),
  auth: z.unknown().optional(),
  defer: z.boolean().optional(),
  alwaysLoad: z.boolean().optional(),
  includeTools: toolNames.optional(),
  enabledTools: toolNames.optional(),
  enabled_tools: toolNames.optional(),
  tools: z.unknown().optional(),
  excludeTools: toolNames.optional(),
  disabledTools: toolNames.optional(),
  disabled_tools: toolNames.optional(),
  disabled: z.boolean().optional(),
  enabled: z.boolean().optional(),
});
/** The entry of a server in the file. */
export type Entry = z.infer<typeof entrySchema>;
export const KNOWN: ReadonlySet<string> = new Set(Object.keys(entrySchema.shape));
export const KNOWN_OAUTH: ReadonlySet<string> = new Set(Object.keys(oauthSchema.shape));
export const KNOWN_AUTH: ReadonlySet<string> = new Set(Object.keys(authSchema.shape));
const BY_PERSONALITY = 'approvals are those of the personality';
const BY_SANDBOX = 'say sandbox: required in the personality';
/**
 * Keys that are not read though people may expect it, and what to tell them. The keys of VS Code
 * are from its page "MCP configuration reference" of May 2026.
 */
export const MISSED: ReadonlyMap<string, string> = new Map([
  ...['alwaysAllow', 'autoApprove', 'trust'].map((key) => [key, BY_PERSONALITY] as const),
  ...['sandbox', 'sandboxEnabled'].map((key) => [key, BY_SANDBOX] as const),
  ['auth', 'write it as oauth'],
  ['tools', 'all its tools are there; write their names as includeTools'],
  ['envFile', 'its variables are not set; store them as secrets'],
  ['dev', 'it is not watched for changes, nor debugged'],
  ['headersHelper', 'it is not run; write the headers, with variables for secrets'],
]);
/** The keys of the file that are read. */
export const KNOWN_TOP: ReadonlySet<string> = new Set([
  'mcpServers',
  'servers',
  'mcp',
  'inputs',
  '$schema',
]);
export const KNOWN_MCP: ReadonlySet<string> = new Set(['servers', 'inputs']);
export const KNOWN_INPUT: ReadonlySet<string> = new Set([
  'id',
  'type',
  'description',
  'password',
  'default',
]);
export const OF_PROGRAMS = ['args', 'env', 'cwd'];
export const OF_REMOTE = ['headers', 'oauth', 'auth'];

/** Returns the filter that the keys of a server define; `undefined` when they define none. */
export function filterOf(entry: Entry): McpToolFilter | undefined {
  const including = [entry.includeTools, entry.enabledTools, entry.enabled_tools, namesIn(entry)];
  const lists = including.filter((names) => names !== undefined && !names.includes('*'));
  const exclude = [entry.excludeTools, entry.disabledTools, entry.disabled_tools].flatMap(
    (names) => names ?? [],
  );
  if (lists.length === 0 && exclude.length === 0) return undefined;
  const [first, ...others] = lists;
  // With two lists, only the tools in both.
  const include = first?.filter((name) => others.every((names) => names?.includes(name)));
  return { ...(include !== undefined && { include }), exclude };
}

/**
 * Returns the names in `tools` in the form of GitHub, where a star means all; `undefined` for
 * another form, because other programs use `tools` for other things.
 */
export function namesIn({ tools }: Pick<Entry, 'tools'>): readonly string[] | undefined {
  return toolNames.safeParse(tools === '*' ? [tools] : tools).data;
}
