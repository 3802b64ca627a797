import { err } from '@ethosagent/plugin-sdk';
import { cleanMcpSchema, cleanText, mcpToolResult } from '@ethosagent/policy';
import type {
  AnyTool,
  ToolCapabilities,
  ToolContext,
  ToolEffect,
  ToolResult,
} from '@ethosagent/types';
import { callServer } from './call.js';
import { callResultSchema } from './call-result.js';
import { argumentProblem } from './check-arguments.js';
import type { McpServerConfig } from './config.js';
import type { Connection } from './connection.js';
import { dryRunAnswer } from './dry-run-answer.js';
import type { ListedTool } from './listed-tool.js';
import { mcpToolName } from './names.js';

/** The facts about a call, for the host to decide whether the call needs approval. */
export interface McpCallFacts {
  server: string;
  /** The server's own name for the tool. */
  tool: string;
  /** The server's own annotations of the tool. They may be wrong. */
  annotations: Record<string, unknown>;
  args: unknown;
  personality: string | undefined;
}

/** Returns whether a call needs approval. A text means yes, and is the reason. */
export type McpApproval = (call: McpCallFacts) => boolean | string;

export interface ServerToolOptions {
  server: McpServerConfig;
  capabilities: ToolCapabilities;
  timeoutMs: number;
  approval: McpApproval | undefined;
  connectionFor(personality: string | undefined): Connection | undefined;
}

const MAX_DESCRIPTION_CHARS = 4_000;
const MAX_RESULT_CHARS = 60_000;

/**
 * Returns the effects of calls: always the worst. The server's own annotations never relax a check.
 */
export function effectsOf({ kind }: McpServerConfig): ToolEffect[] {
  return kind === 'process' ? ['write', 'send', 'spawn'] : ['write', 'send'];
}

/** Returns the fields that all tools of a server have in common. */
export function commonOf({ server, capabilities, timeoutMs }: ServerToolOptions) {
  return {
    toolset: 'mcp',
    capabilities,
    outputIsUntrusted: true,
    effects: effectsOf(server),
    supportsDryRun: true,
    maxResultChars: MAX_RESULT_CHARS,
    // The time limit of the call itself fires first, and notifies the server.
    timeoutMs: timeoutMs + 2_000,
    ...(server.defer === true && { defer: true }),
  };
}

/** Makes a tool for the registry from a tool of a server. */
export function serverTool(listed: ListedTool, options: ServerToolOptions): AnyTool {
  const { definition, hash } = listed;
  const { server, approval } = options;
  const { name: tool, inputSchema, annotations } = definition;
  const name = mcpToolName(server.name, tool);
  const described = cleanText(definition.description, MAX_DESCRIPTION_CHARS);
  const origin = { server: server.name, tool, annotations };
  const run = async (given: unknown, ctx: ToolContext): Promise<ToolResult> => {
    // A model may send no arguments at all for a tool without parameters.
    const args = given ?? {};
    const problem = argumentProblem(inputSchema, args);
    if (problem !== undefined) return err(`${name}: ${problem}`, 'input_invalid');
    const connection = options.connectionFor(ctx.personalityId);
    if (connection === undefined)
      return err(closedText(server.name), 'not_available', 'TOOL_UNAVAILABLE');
    if (ctx.dryRun === true) {
      return dryRunAnswer(`${tool} of the MCP server ${server.name} would be called`, {
        mcp: origin,
        args,
      });
    }
    const call = {
      connection,
      toolName: name,
      method: 'tools/call',
      params: { name: tool, arguments: args },
      schema: callResultSchema,
      timeoutMs: options.timeoutMs,
      asTask: listed.asTask === true,
      refuse: () => refusalOf(connection, tool, hash),
    };
    const called = await callServer(call, ctx);
    return called.ok ? called.denied(mcpToolResult(called.answer, origin)) : called.result;
  };
  return {
    ...commonOf(options),
    name,
    description:
      described === ''
        ? `${cleanText(tool, 100)}, a tool of the MCP server ${cleanText(server.name, 100)}.`
        : described,
    schema: cleanMcpSchema(inputSchema),
    // The schema of a server is not run as a whole: `argumentProblem` finds the clear errors.
    validateSchema: false,
    execute: run,
    ...(approval === undefined
      ? {}
      : {
          requiresApproval: (args: unknown, { personalityId }: { personalityId?: string }) =>
            approval({ server: server.name, tool, annotations, args, personality: personalityId }),
        }),
  };
}

export function closedText(server: string): string {
  return `The MCP server ${server} is not available: its bridge is closed`;
}

/** Returns why a tool must not be called under a personality, if so. */
function refusalOf(connection: Connection, tool: string, hash: string): string | undefined {
  if (connection.offered.get(tool)?.hash === hash) return undefined;
  const { name } = connection.server;
  return connection.listed.has(tool)
    ? `the MCP server ${name} has changed ${tool} since it was first used; it is held back until the operator accepts it with "ethosagent mcp accept"`
    : `${name} has no tool ${tool} any more, or not under this personality`;
}
