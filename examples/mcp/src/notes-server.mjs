// A small MCP server, which describes its tool as the file of its first argument says.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [file] = process.argv.slice(2);
const description = readFileSync(file, 'utf8');
const tools = [{ name: 'note', description, inputSchema: { type: 'object', properties: {} } }];

function answer(method, params) {
  switch (method) {
    case 'initialize': {
      const { protocolVersion } = params;
      const serverInfo = { name: 'notes', version: '1.0.0' };
      return { protocolVersion, capabilities: { tools: {} }, serverInfo };
    }
    case 'tools/list':
      return { tools };
    default:
      return { content: [{ type: 'text', text: 'Water the plants' }] };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  process.stdout.write(
    `${JSON.stringify({ jsonrpc: '2.0', id, result: answer(method, params) })}\n`,
  );
}
