import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import { cleanLine, cleanText, McpResultParts } from '@ethosagent/policy';
import type { AnyTool, ToolContext, ToolResult } from '@ethosagent/types';
import { z } from 'zod';
import { callServer } from './call.js';
import type { Connection } from './connection.js';
import { dryRunAnswer } from './dry-run-answer.js';
import { listTool } from './list-tool.js';
import { bridgeToolName } from './names.js';
import { closedText, commonOf, type ServerToolOptions } from './server-tools.js';

const listedSchema = z.object({
  uri: z.string().optional(),
  uriTemplate: z.string().optional(),
  name: z.string(),
  description: z.string().optional(),
  mimeType: z.string().optional(),
});
const contentsSchema = z.looseObject({ contents: z.array(z.unknown()) });
const contentSchema = z.object({
  uri: z.string(),
  mimeType: z.string().optional(),
  text: z.string().optional(),
  blob: z.string().optional(),
});

/** Creates the tools for the resources of a server. */
export function resourceTools(options: ServerToolOptions & { maxListed: number }): AnyTool[] {
  const { server } = options;
  const shown = cleanText(server.name, 100);
  const list = listTool(options, {
    tool: 'list_resources',
    what: 'resources',
    description: `List the resources of the MCP server ${shown}: their URIs, and templates of URIs. Read one with read_resource of the same server.`,
    lists: ['resources/list', 'resources/templates/list'],
    has: (connection) => connection.hasResources,
    show: (item) => {
      const parsed = listedSchema.safeParse(item);
      if (!parsed.success) return undefined;
      const { uri, uriTemplate, name, description, mimeType } = parsed.data;
      const about = [name, mimeType, description].filter((text) => text !== undefined);
      // Quoted, so that no part of it can look like another entry.
      const where = JSON.stringify(cleanLine(uri ?? uriTemplate ?? '', 500));
      return `${where} – ${cleanLine(about.join(', '), 500)}`;
    },
  });
  const name = bridgeToolName(server.name, 'read_resource');
  const read = defineTool({
    ...commonOf(options),
    name,
    description: `Read a resource of the MCP server ${shown}, as list_resources of the same server lists them.`,
    input: z.strictObject({
      uri: z.string().min(1).max(8_000).describe('The URI, or a template of one filled in'),
    }),
    execute: async ({ uri }: { uri: string }, ctx: ToolContext): Promise<ToolResult> => {
      const connection = options.connectionFor(ctx.personalityId);
      if (connection === undefined)
        return err(closedText(server.name), 'not_available', 'TOOL_UNAVAILABLE');
      if (ctx.dryRun === true) return dryRunAnswer(`${uri} of ${server.name} would be read`);
      const called = await callServer(
        {
          connection,
          toolName: name,
          method: 'resources/read',
          params: { uri },
          schema: contentsSchema,
          timeoutMs: options.timeoutMs,
          refuse: () => withoutKind(connection, connection.hasResources, 'resources'),
        },
        ctx,
      );
      if (!called.ok) return called.result;
      const parts = new McpResultParts();
      for (const content of called.answer.contents.slice(0, 200)) {
        const parsed = contentSchema.safeParse(content);
        if (parsed.success) parts.resource(parsed.data);
      }
      const structured = { ...parts.structured(), mcp: { server: server.name, uri } };
      return ok(parts.texts.join('\n') || '[the resource is empty]', { structured });
    },
  });
  return [list, read];
}

export function withoutKind(
  { server }: Connection,
  has: boolean,
  kind: string,
): string | undefined {
  return has ? undefined : `the MCP server ${server.name} has no ${kind}`;
}
