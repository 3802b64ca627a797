import {
  assertOptions,
  cleanMcpSchema,
  cleanText,
  errorText,
  type HeldTool,
  isBoolean,
  isFunction,
  isString,
  MAX_TIMER_MS,
  type McpToolDefinition,
  mcpToolName,
  mcpToolResult,
  type OptionNames,
  readMcpAnswer,
  readMcpTool,
} from '@ethosagent/policy';
import { EthosError, type Tool, type ToolContext, type ToolResult } from '@ethosagent/types';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ErrorCode, McpError, ResultSchema } from '@modelcontextprotocol/sdk/types.js';

/**
 * The used method of a `Client` of the MCP SDK. The client is already connected, and the caller
 * closes it.
 */
export type ConnectedMcpClient = Pick<Client, 'request'>;

export interface FromMcpOptions {
  /**
   * The name of the server in `mcp__<server>__<tool>`, which `mcp_servers` and `trust` of a
   * personality go by. You give it: a server could call itself like one that is trusted.
   */
  server: string;
  /** Whether each call needs approval. `true` when absent. */
  approval?: boolean;
  /** The most milliseconds of a call. 120,000 when absent. */
  timeoutMs?: number;
  /** Called for each listed tool that is left out, with the reason. */
  onHeld?: (held: HeldTool) => void;
}

const OPTIONS: OptionNames<FromMcpOptions> = {
  server: [isString, 'a text'],
  approval: [isBoolean, 'true or false'],
  timeoutMs: [
    (value) => typeof value === 'number' && value > 0 && value <= MAX_TIMER_MS,
    `a number of milliseconds above zero, up to ${MAX_TIMER_MS}`,
  ],
  onHeld: [isFunction, 'a function'],
};

const MAX_TOOLS = 256;
const MAX_PAGES = 100;
const MAX_DESCRIPTION_CHARS = 4_000;
const MAX_RESULT_CHARS = 60_000;

/**
 * Returns the tools of a server that a client is connected to, for a runtime. The runtime does not
 * confine, limit or audit what the server does. So each call needs approval, and its output is
 * untrusted. For a server that the runtime starts, confines and pins, use `mcp` of the runtime.
 *
 * @param client a connected client of the MCP SDK
 * @param options the name of the server in the names of its tools, and `approval`
 * @returns the tools; register them in the runtime
 * @throws `CONFIG_INVALID` if `server` is missing, or for an option that there is not
 * @throws `TOOL_INVALID` if the server's list of tools can't be read
 * @throws the error of `client.request`
 */
export async function fromMcp(
  client: ConnectedMcpClient,
  options: FromMcpOptions,
): Promise<Tool<Record<string, unknown>>[]> {
  assertOptions('fromMcp', options, OPTIONS);
  const { server } = options;
  if (server === undefined || server.trim() === '') {
    throw new EthosError(
      'CONFIG_INVALID',
      'fromMcp: name the server with `server`, as in mcp_servers of the personality; the name that a server gives itself is not used',
    );
  }
  const tools = new Map<string, Tool<Record<string, unknown>>>();
  for (const entry of await listAll(client)) {
    const read = readMcpTool(entry);
    if ('reason' in read) {
      options.onHeld?.(read);
      continue;
    }
    const tool = foreignTool(read.definition, { client, server, options });
    if (tools.has(tool.name)) {
      options.onHeld?.({ tool: tool.name, reason: 'the server lists two tools of this name' });
    } else {
      tools.set(tool.name, tool);
    }
  }
  return [...tools.values()];
}

async function listAll(client: ConnectedMcpClient): Promise<unknown[]> {
  const found: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const { tools, nextCursor } = await client.request(
      { method: 'tools/list', params },
      ResultSchema,
    );
    if (!Array.isArray(tools)) throw invalid('the server gave no list of its tools');
    found.push(...tools);
    if (found.length > MAX_TOOLS) throw invalid(`the server lists more than ${MAX_TOOLS} tools`);
    if (typeof nextCursor !== 'string' || nextCursor === '') return found;
    cursor = nextCursor;
  }
  throw invalid(`the list of the server has more than ${MAX_PAGES} pages`);
}

interface Foreign {
  client: ConnectedMcpClient;
  server: string;
  options: FromMcpOptions;
}

function foreignTool(
  { name: tool, description, inputSchema, annotations }: McpToolDefinition,
  { client, server, options }: Foreign,
): Tool<Record<string, unknown>> {
  const { approval = true, timeoutMs = 120_000 } = options;
  const name = mcpToolName(server, tool);
  return {
    name,
    description:
      cleanText(description, MAX_DESCRIPTION_CHARS) ||
      `${cleanText(tool, 100)}, a tool of the MCP server ${cleanText(server, 100)}.`,
    schema: cleanMcpSchema(inputSchema),
    toolset: 'mcp',
    capabilities: {},
    effects: ['write', 'send', 'spawn'],
    unconfined: true,
    outputIsUntrusted: true,
    maxResultChars: MAX_RESULT_CHARS,
    // Longer than the time limit of the request itself, which then ends first and tells the server.
    timeoutMs: timeoutMs + 2_000,
    // Without this, a tool without confinement needs an approval for every call.
    ...(!approval && { requiresApproval: false }),
    async execute(args, ctx) {
      try {
        const answer = await client.request(
          { method: 'tools/call', params: { name: tool, arguments: args } },
          ResultSchema,
          { signal: ctx.abortSignal, timeout: timeoutMs, onprogress: progressOf(name, ctx) },
        );
        const read = readMcpAnswer(answer);
        if (read === undefined)
          return failed(`${name} gave an answer that the protocol does not know; ${MAY_HAVE_RUN}`);
        return mcpToolResult(read, { server, tool, annotations });
      } catch (error) {
        return failure(error, name);
      }
    },
  };
}

function progressOf(toolName: string, { emit }: ToolContext) {
  return ({ progress, total, message = '' }: Progress) =>
    emit({
      type: 'progress',
      toolName,
      message:
        cleanText(message, 200) ||
        (total === undefined ? `${progress}` : `${progress} of ${total}`),
      audience: 'user',
      ...(total !== undefined &&
        total > 0 && { percent: Math.min(100, Math.max(0, (progress / total) * 100)) }),
    });
}

interface Progress {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}

const MAY_HAVE_RUN = 'it may have run, so check before you call it again';

function failure(error: unknown, name: string): ToolResult {
  const said = cleanText(errorText(error), 2_000);
  if (!(error instanceof McpError))
    return failed(`the connection to the MCP server of ${name} failed; ${MAY_HAVE_RUN} (${said})`);
  switch (error.code) {
    case ErrorCode.InvalidParams:
      return { ok: false, code: 'input_invalid', error: `${name} refuses the arguments: ${said}` };
    case ErrorCode.RequestTimeout:
    case ErrorCode.ConnectionClosed:
      return failed(`${name} gave no answer; ${MAY_HAVE_RUN} (${said})`);
    default:
      return failed(`${name} answered with an error: ${said}`);
  }
}

function failed(error: string): ToolResult {
  return { ok: false, code: 'execution_failed', error };
}

function invalid(problem: string): EthosError {
  return new EthosError('TOOL_INVALID', problem);
}
