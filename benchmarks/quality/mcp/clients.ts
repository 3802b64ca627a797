import { DefaultToolRegistry } from '@ethosagent/core';
import { InMemoryStorage } from '@ethosagent/storage-fs';
import { createMcpBridge, parseMcpConfig } from '@ethosagent/tools-mcp';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { EVERYTHING } from './servers.js';

/** A way to call tools of a server. */
export interface ToolClient {
  /** Gives the text of the result. */
  call(tool: string, args: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
}

/** Where a server is: a program on standard streams, or a URL. */
export type Place = { kind: 'stdio' } | { kind: 'http'; url: string };

/**
 * The client of the SDK, as its documentation shows it.
 *
 * @param isFollowed whether its calls can be cancelled and tell of their progress, as the bridge's
 */
export async function officialClient(place: Place, isFollowed = false): Promise<ToolClient> {
  const client = new Client({ name: 'official', version: '1.0.0' });
  const transport =
    place.kind === 'http'
      ? new StreamableHTTPClientTransport(new URL(place.url))
      : new StdioClientTransport({
          command: process.execPath,
          args: [EVERYTHING, 'stdio'],
          stderr: 'ignore',
        });
  await client.connect(transport);
  // Its schemas are compiled here, so that results of tools with one are validated.
  await client.listTools();
  return {
    async call(name, args) {
      const options = isFollowed
        ? { signal: new AbortController().signal, onprogress: () => {} }
        : {};
      const call = { name, arguments: args };
      const { content } = await client.callTool(call, CallToolResultSchema, options);
      const [part] = Array.isArray(content) ? content : [];
      return part?.type === 'text' ? part.text : '';
    },
    close: () => client.close(),
  };
}

/** The bridge, over a registry as a runtime has one: every gate, and the audit. */
export async function bridgedClient(place: Place, folder: string): Promise<ToolClient> {
  const registry = new DefaultToolRegistry({
    storage: new InMemoryStorage(),
    personalityFsReach: { read: [folder], write: [folder] },
    personalityNetworkAllow: ['127.0.0.1'],
    processEnv: { PATH: process.env.PATH ?? '' },
    audit: { record: () => {} },
  });
  const everything =
    place.kind === 'http'
      ? { url: place.url }
      : { command: process.execPath, args: [EVERYTHING, 'stdio'] };
  const bridge = createMcpBridge({
    config: parseMcpConfig({ mcpServers: { everything } }),
    host: registry,
    registry,
    workingDir: folder,
  });
  const [status] = await bridge.start();
  if (status?.state !== 'ready') throw new Error(`the server is not ready: ${status?.reason}`);
  const ctx = {
    sessionId: 's',
    sessionKey: 'benchmark',
    platform: 'cli',
    workingDir: folder,
    currentTurn: 1,
    messageCount: 1,
    abortSignal: new AbortController().signal,
    emit: () => {},
    resultBudgetChars: 200_000,
  } as const;
  return {
    async call(tool, args) {
      const name = `mcp__everything__${tool}`;
      const [answer] = await registry.executeParallel([{ toolCallId: 'c', name, args }], ctx);
      if (answer?.result.ok !== true) throw new Error(`${name}: ${answer?.result.error}`);
      return answer.result.value;
    },
    async close() {
      await bridge.close();
      await registry.endAllSessions();
    },
  };
}
