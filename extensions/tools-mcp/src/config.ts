import { isObject, nearestName } from '@ethosagent/policy';
import { EthosError } from '@ethosagent/types';
import {
  authSchema,
  type Entry,
  entrySchema,
  filterOf,
  KNOWN,
  KNOWN_AUTH,
  KNOWN_INPUT,
  KNOWN_MCP,
  KNOWN_OAUTH,
  KNOWN_TOP,
  type McpToolFilter,
  MISSED,
  namesIn,
  OF_PROGRAMS,
  OF_REMOTE,
} from './config-keys.js';
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
  /** How many milliseconds a call may take. */
  timeoutMs?: number;
  /** Whether the model sees its tools only after it has searched for them. */
  defer?: boolean;
  /** Which of its tools are used. All when absent. */
  tools?: McpToolFilter;
}

/** An MCP server that is reached over HTTP. */
export interface McpRemoteServer {
  kind: 'remote';
  name: string;
  /** `http` is streamable HTTP, or SSE when the server supports only that. `sse` is SSE. */
  transport: 'http' | 'sse';
  url: McpTemplate;
  headers: ReadonlyMap<string, McpTemplate>;
  oauth: McpOAuthConfig;
  /** How many milliseconds a call may take. */
  timeoutMs?: number;
  /** Whether the model sees its tools only after it has searched for them. */
  defer?: boolean;
  /** Which of its tools are used. All when absent. */
  tools?: McpToolFilter;
}

/** How a remote server is authorized. */
export interface McpOAuthConfig {
  /**
   * The hosts on which the authorization server and its endpoints must be: names, `*.suffix` or
   * `*`, with or without a port. When empty, the authorization server must be on the host of the
   * MCP server, and its endpoints at its own origin. All must use https, except on loopback.
   */
  hosts: readonly string[];
  /** The id of a client that is already registered. */
  clientId?: McpTemplate;
  clientSecret?: McpTemplate;
  scope?: string;
}

export type McpServerConfig = McpProcessServer | McpRemoteServer;

/** The content of an `mcp.json`. */
export interface McpConfig {
  servers: readonly McpServerConfig[];
  /** The names of servers that the file switches off. */
  disabled: readonly string[];
  /** The description of each input of the file, by its id. */
  inputs: ReadonlyMap<string, string>;
  /** What is ignored in the file, or read in another way than it may be meant. */
  notes: readonly string[];
}

const MAX_CHARS = 1_000_000;
const MAX_LEVELS = 100;
const MAX_SERVERS = 200;
const MAX_WRONG = 50;
// Some programs write seconds, others milliseconds. A smaller number is read as seconds, because no call is
// meant to end within a second.
const SECONDS_BELOW = 1_000;

const NO_SERVERS = 'has neither mcpServers nor servers';
const HTTP_TYPES = ['http', 'streamable-http', 'streamableHttp', 'streamable_http'];

/**
 * Parses an `mcp.json` in the forms of Claude, Cursor and VS Code. Comments and trailing commas are
 * allowed.
 *
 * @param source the text of the file, or its parsed value
 * @param file the name of the file in messages
 * @returns the servers, and notes about what is ignored
 * @throws `CONFIG_INVALID` with each mistake on its own line. When `source` is the text, a line
 *   begins with `file:line:column`
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

/** Reads the text of a file. @throws `CONFIG_INVALID` when it is too long or nested too deep */
function readText(text: string, file: string): JsonText {
  const invalid = (detail: string) => new EthosError('CONFIG_INVALID', `${file}: ${detail}`);
  if (text.length > MAX_CHARS) throw invalid(`longer than ${MAX_CHARS} characters`);
  if (nestsDeeper(text, MAX_LEVELS)) throw invalid(`nested deeper than ${MAX_LEVELS} levels`);
  return new JsonText(text, file);
}

// jsonc-parser is recursive, so deep nesting would overflow the stack.
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
  /** The default of each input, by its id, for an input whose secret is not set. */
  #defaults: ReadonlyMap<string, string> = new Map();

  /** @param text the text of the file, to find the places of mistakes */
  constructor(text: JsonText, file: string) {
    this.#text = text;
    this.#file = file;
  }

  read(value: unknown): McpConfig {
    const found = isObject(value) ? serversIn(value) : undefined;
    // In a text with errors, the missing part may be there.
    if (found === undefined && this.#text.problems.length === 0) {
      this.wrong.push({
        offset: 0,
        message: `${this.#file}: ${NO_SERVERS}${nearServers(value) || '; write them below mcpServers'}`,
      });
    }
    const servers: McpServerConfig[] = [];
    const disabled: string[] = [];
    for (const key of found?.others ?? []) {
      this.#note([key], `is not read, since ${found?.key} is there`);
    }
    const top = found?.key.split('.') ?? [];
    const inputs = this.#inputs(value, top);
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
      this.#noteUnread([...path, 'oauth'], data.oauth && isObject(raw) && raw.oauth, KNOWN_OAUTH);
      this.#noteOthers(path, data);
      if (data.disabled === true || data.enabled === false) {
        disabled.push(name);
        continue;
      }
      const server = this.#server(name, path, data);
      if (server !== undefined) servers.push(server);
    }
    return { servers, disabled, inputs, notes: this.#notes };
  }

  /** Reads the inputs, and adds notes about other keys beside the servers. */
  #inputs(value: unknown, top: JsonPath): ReadonlyMap<string, string> {
    const file = isObject(value) ? value : {};
    // In the settings of an editor, only `mcp` is for the bridge.
    const isSettings = top.length > 1;
    const around = isSettings && isObject(file.mcp) ? file.mcp : file;
    const path = isSettings ? ['mcp'] : [];
    if (top.length > 0) this.#noteUnread(path, around, isSettings ? KNOWN_MCP : KNOWN_TOP);
    const found = new Map<string, string>();
    const defaults = new Map<string, string>();
    for (const [at, input] of (Array.isArray(around.inputs) ? around.inputs : []).entries()) {
      if (!isObject(input) || typeof input.id !== 'string') continue;
      this.#noteUnread([...path, 'inputs', at], input, KNOWN_INPUT);
      found.set(input.id, typeof input.description === 'string' ? input.description : '');
      if (typeof input.default === 'string') defaults.set(input.id, input.default);
    }
    this.#defaults = defaults;
    return found;
  }

  #noteUnread(path: JsonPath, raw: unknown, known: ReadonlySet<string>): void {
    for (const key of Object.keys(isObject(raw) ? raw : {})) {
      if (known.has(key)) continue;
      const missed = MISSED.get(key);
      const near = missed === undefined ? nearestName(key, known) : undefined;
      const meant = near === undefined ? '' : `; did you mean "${near}"?`;
      const also = missed === undefined ? meant : `: ${missed}`;
      this.#note([...path, key], `is not read${also}`);
    }
  }

  /** Reports known keys that have an unknown form. */
  #noteOthers(path: JsonPath, { auth, tools, ...entry }: Entry): void {
    if (isObject(auth)) this.#noteUnread([...path, 'auth'], auth, KNOWN_AUTH);
    const unread = {
      ...(auth !== undefined && !authSchema.safeParse(auth).success && { auth }),
      ...(tools !== undefined && namesIn({ tools }) === undefined && { tools }),
    };
    this.#noteUnread(path, unread, new Set(Object.keys(entry)));
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
    const tools = filterOf(entry);
    const limits = {
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(entry.defer === true && entry.alwaysLoad !== true && { defer: true }),
      ...(tools !== undefined && { tools }),
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
      oauth: this.#oauth(path, entry),
      ...limits,
    };
  }

  #oauth(path: JsonPath, { oauth, ...entry }: Entry): McpOAuthConfig {
    const auth = authSchema.safeParse(entry.auth).data ?? {};
    const { hosts = [], clientId, clientSecret, scope, scopes } = oauth || {};
    const id = clientId ?? auth.CLIENT_ID;
    const secret = clientSecret ?? auth.CLIENT_SECRET;
    const asked = scope ?? scopes ?? auth.scopes;
    const at = (own: string | undefined, key: string, other: string) =>
      own === undefined ? [...path, 'auth', other] : [...path, 'oauth', key];
    return {
      hosts,
      ...(id !== undefined && {
        clientId: this.#template(at(clientId, 'clientId', 'CLIENT_ID'), id),
      }),
      ...(secret !== undefined && {
        clientSecret: this.#template(at(clientSecret, 'clientSecret', 'CLIENT_SECRET'), secret),
      }),
      ...(asked !== undefined && { scope: typeof asked === 'string' ? asked : asked.join(' ') }),
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
    if (parsed.ok) return parsed.template.map((part) => this.#withDefault(part));
    this.#wrong(path, parsed.problem);
    return [];
  }

  #withDefault(part: McpTemplate[number]): McpTemplate[number] {
    if (typeof part === 'string' || part.kind === 'host' || part.fallback !== undefined)
      return part;
    const fallback = this.#defaults.get(part.name);
    return fallback === undefined ? part : { ...part, fallback };
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

/** Suggests the key of the servers, when a key with a similar name is there. */
function nearServers(value: unknown): string {
  const near = Object.keys(isObject(value) ? value : {}).flatMap((key) => {
    const meant = nearestName(key, ['mcpServers', 'servers']);
    return meant === undefined || meant === key ? [] : [[key, meant]];
  });
  const [first] = near;
  return first === undefined ? '' : `; did you mean "${first[1]}" by "${first[0]}"?`;
}

function serversIn(
  value: Record<string, unknown>,
): { key: string; servers: Record<string, unknown>; others: string[] } | undefined {
  const inMcp = isObject(value.mcp) ? value.mcp.servers : undefined;
  const places: [string, unknown][] = [
    ['mcpServers', value.mcpServers],
    ['servers', value.servers],
    ['mcp.servers', inMcp],
  ];
  const there = places.filter(([, servers]) => isObject(servers)).map(([key]) => key);
  for (const [key, servers] of places) {
    if (isObject(servers)) return { key, servers, others: there.filter((one) => one !== key) };
  }
  return undefined;
}
