import { nearestName } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import { z } from 'zod';
import { type JsonPath, type JsonProblem, JsonText } from './json-text.js';
import { type McpTemplate, parseTemplate } from './templates.js';

/** An MCP server that is a program. */
export interface McpProcessServer {
  kind: 'process';
  name: string;
  command: McpTemplate;
  args: readonly McpTemplate[];
  env: ReadonlyMap<string, McpTemplate>;
  cwd?: McpTemplate;
  /** Milliseconds that a call may take. */
  timeoutMs?: number;
  /** Whether a model is told of its tools only once it has looked for them. */
  defer?: boolean;
}

/** An MCP server that is reached by HTTP. */
export interface McpRemoteServer {
  kind: 'remote';
  name: string;
  /** `http`: streamable HTTP, and SSE for a server that knows no other. */
  transport: 'http' | 'sse';
  url: McpTemplate;
  headers: ReadonlyMap<string, McpTemplate>;
  oauth: McpOAuthConfig;
  /** Milliseconds that a call may take. */
  timeoutMs?: number;
  /** Whether a model is told of its tools only once it has looked for them. */
  defer?: boolean;
}

/** How a remote server is authorized. */
export interface McpOAuthConfig {
  /** Hosts of the authorization server, beside the server's own. */
  hosts: readonly string[];
  /** Of a client that is registered already. */
  clientId?: McpTemplate;
  clientSecret?: McpTemplate;
  scope?: string;
}

export type McpServerConfig = McpProcessServer | McpRemoteServer;

/** What an `mcp.json` says. */
export interface McpConfig {
  servers: readonly McpServerConfig[];
  /** Servers that the file switches off. */
  disabled: readonly string[];
  /** What the file asks of its inputs, by id. */
  inputs: ReadonlyMap<string, string>;
  /** What is not read, or read in another way than it may be meant. */
  notes: readonly string[];
}

const MAX_CHARS = 1_000_000;
const MAX_LEVELS = 100;
const MAX_SERVERS = 200;
const MAX_WRONG = 50;
// Programs differ in the unit; no call is meant to end within a second.
const SECONDS_BELOW = 1_000;

const texts = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));
const oauthSchema = z.object({
  hosts: z.array(z.string().min(1)).optional(),
  clientId: z.string().min(1).optional(),
  clientSecret: z.string().min(1).optional(),
  scope: z.string().min(1).optional(),
});
const entrySchema = z.object({
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
  defer: z.boolean().optional(),
  disabled: z.boolean().optional(),
  enabled: z.boolean().optional(),
});
type Entry = z.infer<typeof entrySchema>;
const KNOWN: ReadonlySet<string> = new Set(Object.keys(entrySchema.shape));
const KNOWN_OAUTH: ReadonlySet<string> = new Set(Object.keys(oauthSchema.shape));
/** What people would miss, of the keys that are not read. */
const MISSED: ReadonlyMap<string, string> = new Map([
  ...['disabledTools', 'excludeTools', 'includeTools', 'enabledTools', 'tools'].map(
    (key) => [key, 'all its tools are there'] as const,
  ),
  ['envFile', 'its variables are not set; store them as secrets'],
  ['headersHelper', 'it is not run; write the headers, with variables for secrets'],
  ['auth', 'write it as oauth'],
]);
const OF_PROGRAMS = ['args', 'env', 'cwd'];
const OF_REMOTE = ['headers', 'oauth'];
const NO_SERVERS = 'has neither mcpServers nor servers';
const HTTP_TYPES = ['http', 'streamable-http', 'streamableHttp', 'streamable_http'];

/**
 * Reads an `mcp.json` in the forms that Claude, Cursor and VS Code have, with comments and trailing
 * commas.
 *
 * @param source the text of the file, or its value
 * @param file what to call it in messages
 * @throws `CONFIG_INVALID` with every mistake on a line of its own, as `file:line:column: …` where
 * the text is given
 */
export function parseMcpConfig(source: unknown, file = 'mcp.json'): McpConfig {
  const text = typeof source === 'string' ? source.replace(/^\ufeff/, '') : undefined;
  const json = text === undefined ? new JsonText('', file) : readText(text, file);
  const reader = new ConfigReader(json, file);
  const config = reader.read(text === undefined ? source : json.value);
  const wrong = [...json.problems, ...reader.wrong]
    .sort((one, other) => one.offset - other.offset)
    .slice(0, MAX_WRONG)
    .map(({ message }) => message);
  if (wrong.length > 0) throw new EthosError('CONFIG_INVALID', wrong.join('\n'));
  return config;
}

/** @throws `CONFIG_INVALID` for what is not to be read at all */
function readText(text: string, file: string): JsonText {
  const invalid = (detail: string) => new EthosError('CONFIG_INVALID', `${file}: ${detail}`);
  if (text.length > MAX_CHARS) throw invalid(`longer than ${MAX_CHARS} characters`);
  if (nestsDeeper(text, MAX_LEVELS)) throw invalid(`nested deeper than ${MAX_LEVELS} levels`);
  return new JsonText(text, file);
}

// jsonc-parser recurses.
function nestsDeeper(text: string, levels: number): boolean {
  let depth = 0;
  // Of texts and comments that do not end, the rest of the line, or of the file, as that parser has it.
  const tokens = /"(?:[^"\\\n\r]|\\[\s\S])*"?|\/\/[^\n\r]*|\/\*[\s\S]*?(?:\*\/|$)|[[\]{}]/g;
  for (const { 0: token } of text.matchAll(tokens)) {
    if (token === '[' || token === '{') depth++;
    else if (token === ']' || token === '}') depth--;
    if (depth > levels) return true;
  }
  return false;
}

class ConfigReader {
  readonly wrong: JsonProblem[] = [];
  readonly #notes: string[] = [];
  readonly #text: JsonText;
  readonly #file: string;

  /** @param text where the places of what is read are looked up */
  constructor(text: JsonText, file: string) {
    this.#text = text;
    this.#file = file;
  }

  read(value: unknown): McpConfig {
    const found = isRecord(value) ? serversIn(value) : undefined;
    // Where the text can't be read, they may be there.
    if (found === undefined && this.#text.problems.length === 0) {
      this.wrong.push({ offset: 0, message: `${this.#file}: ${NO_SERVERS}${nearServers(value)}` });
    }
    const servers: McpServerConfig[] = [];
    const disabled: string[] = [];
    for (const key of found?.others ?? []) {
      this.#note([key], `is not read, since ${found?.key} is there`);
    }
    const top = found?.key.split('.') ?? [];
    const entries = Object.entries(found?.servers ?? {});
    if (entries.length > MAX_SERVERS) this.#wrong(top, `more than ${MAX_SERVERS}`);
    for (const [name, raw] of entries.slice(0, MAX_SERVERS)) {
      const path = [...top, name];
      const parsed = entrySchema.safeParse(raw);
      this.#noteUnread(path, raw, KNOWN);
      if (!parsed.success) {
        for (const { path: below, message } of parsed.error.issues) {
          this.#wrong([...path, ...below.map(keyOrIndex)], message);
        }
        continue;
      }
      const { data } = parsed;
      this.#noteUnread([...path, 'oauth'], data.oauth && isRecord(raw) && raw.oauth, KNOWN_OAUTH);
      if (data.disabled === true || data.enabled === false) {
        disabled.push(name);
        continue;
      }
      const server = this.#server(name, path, data);
      if (server !== undefined) servers.push(server);
    }
    return {
      servers,
      disabled,
      inputs: inputsIn(isRecord(value) ? value.inputs : undefined),
      notes: this.#notes,
    };
  }

  #noteUnread(path: JsonPath, raw: unknown, known: ReadonlySet<string>): void {
    for (const key of Object.keys(isRecord(raw) ? raw : {})) {
      if (known.has(key)) continue;
      const missed = MISSED.get(key);
      const near = missed === undefined ? nearestName(key, known) : undefined;
      const meant = near === undefined ? '' : `; did you mean "${near}"?`;
      const also = missed === undefined ? meant : `: ${missed}`;
      this.#note([...path, key], `is not read${also}`);
    }
  }

  #server(name: string, path: JsonPath, entry: Entry): McpServerConfig | undefined {
    const type = entry.type ?? entry.transport;
    const url = entry.url ?? entry.serverUrl ?? entry.httpUrl;
    const transport = type === 'sse' ? 'sse' : 'http';
    const known = type === undefined || ['stdio', 'sse', ...HTTP_TYPES].includes(type);
    if (!known) {
      this.#wrong([...path, 'type'], `${type} is none of stdio, http, streamable-http, sse`);
      return undefined;
    }
    const isProcess = type === 'stdio' || (type === undefined && url === undefined);
    if (type === undefined && url !== undefined && entry.command !== undefined) {
      this.#wrong(path, 'has a command and a url; say which by type');
      return undefined;
    }
    for (const [key, value] of Object.entries(entry)) {
      const strange = (isProcess ? OF_REMOTE : OF_PROGRAMS).includes(key) && value !== false;
      if (strange) this.#note([...path, key], `is not read, of a server of this kind`);
    }
    const timeoutMs = this.#timeout(path, entry.timeout);
    const limits = {
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(entry.defer === true && { defer: true }),
    };
    if (isProcess) {
      if (entry.command === undefined) {
        this.#wrong(path, 'has neither a command nor a url');
        return undefined;
      }
      return {
        kind: 'process',
        name,
        command: this.#template([...path, 'command'], entry.command),
        args: (entry.args ?? []).map((arg, at) => this.#template([...path, 'args', at], `${arg}`)),
        env: this.#templates([...path, 'env'], entry.env),
        ...(entry.cwd === undefined ? {} : { cwd: this.#template([...path, 'cwd'], entry.cwd) }),
        ...limits,
      };
    }
    if (url === undefined) {
      this.#wrong(path, 'has no url');
      return undefined;
    }
    return {
      kind: 'remote',
      name,
      transport,
      url: this.#template([...path, 'url'], url),
      headers: this.#templates([...path, 'headers'], entry.headers),
      oauth: this.#oauth([...path, 'oauth'], entry.oauth),
      ...limits,
    };
  }

  #oauth(path: JsonPath, oauth: Entry['oauth']): McpOAuthConfig {
    const { hosts = [], clientId, clientSecret, scope } = oauth || {};
    return {
      hosts,
      ...(clientId === undefined
        ? {}
        : { clientId: this.#template([...path, 'clientId'], clientId) }),
      ...(clientSecret === undefined
        ? {}
        : { clientSecret: this.#template([...path, 'clientSecret'], clientSecret) }),
      ...(scope === undefined ? {} : { scope }),
    };
  }

  #timeout(path: JsonPath, timeout: number | undefined): number | undefined {
    if (timeout === undefined || timeout >= SECONDS_BELOW) return timeout;
    this.#note([...path, 'timeout'], `${timeout} is read as seconds`);
    return timeout * 1_000;
  }

  #templates(path: JsonPath, values: Entry['env']): ReadonlyMap<string, McpTemplate> {
    return new Map(
      Object.entries(values ?? {}).map(([key, text]) => [
        key,
        this.#template([...path, key], `${text}`),
      ]),
    );
  }

  #template(path: JsonPath, text: string): McpTemplate {
    if (/^\$[A-Za-z_]\w*$/.test(text)) this.#note(path, `${text} is no variable; \${…} is`);
    const parsed = parseTemplate(text);
    if (parsed.ok) return parsed.template;
    this.#wrong(path, parsed.problem);
    return [];
  }

  #wrong(path: JsonPath, what: string): void {
    if (this.wrong.length >= MAX_WRONG || this.#text.isBroken(path)) return;
    const message = `${this.#text.placeOf(path)}: ${path.join('.')}: ${what}`;
    this.wrong.push({ offset: this.#text.offsetOf(path), message });
  }

  #note(path: JsonPath, what: string): void {
    if (this.#notes.length >= MAX_WRONG) return;
    this.#notes.push(`${this.#text.placeOf(path)}: ${path.join('.')}: ${what}`);
  }
}

const keyOrIndex = (part: PropertyKey) => (typeof part === 'number' ? part : String(part));

/** The key that was likely meant to hold the servers. */
function nearServers(value: unknown): string {
  const near = Object.keys(isRecord(value) ? value : {}).flatMap((key) => {
    const meant = nearestName(key, ['mcpServers', 'servers']);
    return meant === undefined || meant === key ? [] : [[key, meant]];
  });
  const [first] = near;
  return first === undefined ? '' : `; did you mean "${first[1]}" by "${first[0]}"?`;
}

function serversIn(
  value: Record<string, unknown>,
): { key: string; servers: Record<string, unknown>; others: string[] } | undefined {
  const inMcp = isRecord(value.mcp) ? value.mcp.servers : undefined;
  const places: [string, unknown][] = [
    ['mcpServers', value.mcpServers],
    ['servers', value.servers],
    ['mcp.servers', inMcp],
  ];
  const there = places.filter(([, servers]) => isRecord(servers)).map(([key]) => key);
  for (const [key, servers] of places) {
    if (isRecord(servers)) return { key, servers, others: there.filter((one) => one !== key) };
  }
  return undefined;
}

function inputsIn(inputs: unknown): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const input of Array.isArray(inputs) ? inputs : []) {
    if (!isRecord(input) || typeof input.id !== 'string') continue;
    found.set(input.id, typeof input.description === 'string' ? input.description : '');
  }
  return found;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
