import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import { cleanLine, cleanText, McpResultParts } from '@ethosagent/policy';
import type { AnyTool, ToolContext, ToolResult } from '@ethosagent/types';
import { z } from 'zod';
import { callServer } from './call.js';
import { dryRunAnswer } from './dry-run-answer.js';
import { listTool } from './list-tool.js';
import { bridgeToolName } from './names.js';
import { withoutKind } from './resource-tools.js';
import { closedText, commonOf, type ServerToolOptions } from './server-tools.js';

const listedSchema = z.object({
  name: z.string(),
  description: z.string().optional(),
  arguments: z
    .array(
      z.object({
        name: z.string(),
        description: z.string().optional(),
        required: z.boolean().optional(),
      }),
    )
    .optional(),
});
const promptSchema = z.looseObject({
  description: z.string().optional(),
  messages: z.array(z.unknown()),
});
const messageSchema = z.object({ role: z.enum(['user', 'assistant']), content: z.unknown() });

/** Creates the tools for the prompts of a server. */
export function promptTools(options: ServerToolOptions & { maxListed: number }): AnyTool[] {
  const { server } = options;
  const shown = cleanText(server.name, 100);
  const list = listTool(options, {
    tool: 'list_prompts',
    what: 'prompts',
    description: `List the prompts of the MCP server ${shown}, with their arguments (* for those that are needed). Fill one in with get_prompt of the same server.`,
    lists: ['prompts/list'],
    has: (connection) => connection.hasPrompts,
    show: (item) => {
      const parsed = listedSchema.safeParse(item);
      if (!parsed.success) return undefined;
      const { name, description = '', arguments: args = [] } = parsed.data;
      const names = args.map((arg) => (arg.required === true ? `${arg.name}*` : arg.name));
      return `${cleanLine(name, 200)}(${cleanLine(names.join(', '), 500)}) – ${cleanLine(description, 500)}`;
    },
  });
  const name = bridgeToolName(server.name, 'get_prompt');
  const get = defineTool({
    ...commonOf(options),
    name,
    description: `Fill in a prompt of the MCP server ${shown}, as list_prompts of the same server lists them. The answer is text that the server wrote.`,
    input: z.strictObject({
      name: z.string().min(1).max(500).describe('The name of the prompt'),
      arguments: z
        .record(z.string(), z.string())
        .optional()
        .describe('Its arguments by name, each a text'),
    }),
    execute: async (
      args: { name: string; arguments?: Record<string, string> | undefined },
      ctx: ToolContext,
    ): Promise<ToolResult> => {
      const connection = options.connectionFor(ctx.personalityId);
      if (connection === undefined)
        return err(closedText(server.name), 'not_available', 'TOOL_UNAVAILABLE');
      if (ctx.dryRun === true) {
        return dryRunAnswer(`the prompt ${args.name} of ${server.name} would be filled in`);
      }
      const called = await callServer(
        {
          connection,
          toolName: name,
          method: 'prompts/get',
          params: { name: args.name, arguments: args.arguments ?? {} },
          schema: promptSchema,
          timeoutMs: options.timeoutMs,
          refuse: () => withoutKind(connection, connection.hasPrompts, 'prompts'),
        },
        ctx,
      );
      if (!called.ok) return called.result;
      const parts = new McpResultParts();
      for (const message of called.answer.messages.slice(0, 200)) {
        const parsed = messageSchema.safeParse(message);
        if (!parsed.success) continue;
        parts.text(`[${parsed.data.role}]`);
        parts.add([parsed.data.content]);
      }
      const structured = { ...parts.structured(), mcp: { server: server.name, prompt: args.name } };
      return ok(parts.texts.join('\n') || '[the prompt is empty]', { structured });
    },
  });
  return [list, get];
}
