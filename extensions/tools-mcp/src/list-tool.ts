import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import { cleanLine } from '@ethosagent/policy';
import type { AnyTool, ToolContext, ToolResult } from '@ethosagent/types';
import { z } from 'zod';
import { callServer } from './call.js';
import type { Connection } from './connection.js';
import { dryRunAnswer } from './dry-run-answer.js';
import { MAX_CURSOR_CHARS, MAX_PAGES } from './limits.js';
import { type BridgeTool, bridgeToolName } from './names.js';
import { closedText, commonOf, type ServerToolOptions } from './server-tools.js';

/** A list of a server, and how to show an entry of it. */
export interface ListToolSpec {
  tool: BridgeTool;
  what: string;
  description: string;
  lists: readonly ('resources/list' | 'resources/templates/list' | 'prompts/list')[];
  has(connection: Connection): boolean;
  /** Returns the line for an entry; `undefined` when the entry is malformed. */
  show(item: unknown): string | undefined;
}

const pageSchema = z.looseObject({
  resources: z.array(z.unknown()).optional(),
  resourceTemplates: z.array(z.unknown()).optional(),
  prompts: z.array(z.unknown()).optional(),
  nextCursor: z.string().nullish(),
});

/** Creates a tool that shows a list of a server, with all pages within the limits. */
export function listTool(
  options: ServerToolOptions & { maxListed: number },
  spec: ListToolSpec,
): AnyTool {
  const { server, maxListed } = options;
  const name = bridgeToolName(server.name, spec.tool);
  return defineTool({
    ...commonOf(options),
    name,
    description: spec.description,
    input: z.strictObject({}),
    execute: async (_args: object, ctx: ToolContext): Promise<ToolResult> => {
      const connection = options.connectionFor(ctx.personalityId);
      if (connection === undefined)
        return err(closedText(server.name), 'not_available', 'TOOL_UNAVAILABLE');
      if (ctx.dryRun === true) {
        return dryRunAnswer(`the ${spec.what} of ${server.name} would be listed`);
      }
      const lines: string[] = [];
      let cut = false;
      let failure: ToolResult | undefined;
      const unknown: ToolResult[] = [];
      for (const method of spec.lists) {
        let cursor: string | undefined;
        const seen = new Set<string>();
        do {
          const called = await callServer(
            {
              connection,
              toolName: name,
              method,
              params: cursor === undefined ? {} : { cursor },
              schema: pageSchema,
              timeoutMs: options.timeoutMs,
              refuse: () =>
                spec.has(connection)
                  ? undefined
                  : `the MCP server ${server.name} has no ${spec.what}`,
            },
            ctx,
          );
          if (!called.ok) {
            // A server may support one of the lists only.
            if (called.isUnknown && cursor === undefined) unknown.push(called.result);
            else failure = called.result;
            break;
          }
          const { resources, resourceTemplates, prompts, nextCursor } = called.answer;
          for (const item of resources ?? resourceTemplates ?? prompts ?? []) {
            if (lines.length >= maxListed) cut = true;
            else lines.push(...[spec.show(item)].filter((line) => line !== undefined));
          }
          cursor = nextCursor ?? undefined;
          cut ||=
            cursor !== undefined &&
            (cursor.length > MAX_CURSOR_CHARS || seen.has(cursor) || seen.size >= MAX_PAGES);
          if (cursor !== undefined) seen.add(cursor);
        } while (cursor !== undefined && cursor !== '' && !cut);
        if (failure !== undefined) break;
      }
      if (lines.length === 0) {
        const [first] = unknown.length === spec.lists.length ? unknown : [];
        return failure ?? first ?? ok(`${server.name} has no ${spec.what} now.`);
      }
      const more = [
        ...(cut ? [`[there are more ${spec.what} than the first ${lines.length}]`] : []),
        ...(failure?.ok === false
          ? [`[there are perhaps more ${spec.what}: ${cleanLine(failure.error, 500)}]`]
          : []),
      ];
      return ok([...lines, ...more].join('\n'), {
        structured: {
          mcp: { server: server.name },
          count: lines.length,
          cut: cut || failure !== undefined,
        },
      });
    },
  });
}
