import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  CallToolResultSchema,
  type ElicitRequest,
  ElicitRequestSchema,
  type ElicitResult,
} from '@modelcontextprotocol/sdk/types.js';

/** A client, as Claude Code or Cursor has one, whose user answers with `ask`. */
export function createClient(ask: (params: ElicitRequest['params']) => ElicitResult) {
  const client = new Client(
    { name: 'example', version: '1' },
    { capabilities: { elicitation: { form: {} } } },
  );
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => ask(params));
  return {
    client,
    /** Calls a tool, and gives the text that a model would read. */
    async call(name: string, args: Record<string, unknown>, signal?: AbortSignal) {
      const { content } = await client.request(
        { method: 'tools/call', params: { name, arguments: args } },
        CallToolResultSchema,
        { ...(signal !== undefined && { signal }) },
      );
      return content
        .map((part) => (part.type === 'text' ? part.text : `[${part.type}]`))
        .join('\n');
    },
  };
}
