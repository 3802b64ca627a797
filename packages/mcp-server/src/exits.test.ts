import { callEventConformance, type ToolExit, toolExitConformance } from '@ethosagent/conformance';
import { isLongRun } from '@ethosagent/test-support';
import type { AnyTool } from '@ethosagent/types';
import { createToolRuntime } from '@ethosagent/wiring';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { httpTransport, newClient, TOKENS } from './fixtures/connect.js';
import { createWorld } from './fixtures/world.js';
import { serveHttp } from './index.js';

async function createExit(tools: readonly AnyTool[], newOne: () => Client): Promise<ToolExit> {
  const world = createWorld();
  const setToolset = async (names: readonly string[]) => world.setToolset(names);
  await setToolset(['allowed_tool']);
  const runtime = await createToolRuntime({ home: world.home, personality: 'clerk', tools });
  const server = await serveHttp(runtime, { clients: { ann: { token: TOKENS.ann } } });
  const client = newOne();
  await client.connect(httpTransport(server.url, TOKENS.ann));
  // Does not use `callTool`, which checks the tools that it listed before.
  const call = ({ name, args }: { name: string; args: unknown }) =>
    client.request(
      { method: 'tools/call', params: Object({ name, arguments: args }) },
      ResultSchema,
    );
  return {
    listed: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (calls) => Promise.allSettled(calls.map(call)),
    keep: async () => (kept) => call(kept),
    setToolset,
    async close() {
      await client.close();
      await server.close();
      await runtime.close();
      world.remove();
    },
  };
}

// A check has the client that says yes: one that says nothing gets no further.
if (isLongRun()) {
  toolExitConformance('an MCP client', (tools) => createExit(tools, () => newClient()));
}

toolExitConformance('an MCP client whose user says yes to everything', (tools) =>
  createExit(tools, () =>
    newClient(() => ({ action: 'accept', content: { approve: true, always: 'tool' } })),
  ),
);

callEventConformance('an MCP client whose user approves', async ({ tools, toolset, audit }) => {
  const world = createWorld();
  world.setToolset(toolset);
  const { home } = world;
  const runtime = await createToolRuntime({ home, personality: 'clerk', tools, audit });
  const server = await serveHttp(runtime, { clients: { ann: { token: TOKENS.ann } } });
  const client = newClient(() => ({ action: 'accept', content: { approve: true } }));
  await client.connect(httpTransport(server.url, TOKENS.ann));
  return {
    call: ({ name, args }) =>
      client.request(
        { method: 'tools/call', params: Object({ name, arguments: args }) },
        ResultSchema,
      ),
    async close() {
      await client.close();
      await server.close();
      await runtime.close();
      world.remove();
    },
  };
});
