import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aiTools } from '@ethosagent/adapter-ai-sdk';
import { runToolUse, toAnthropicTools } from '@ethosagent/adapter-anthropic';
import { toLangchainTools } from '@ethosagent/adapter-langchain';
import { mastraTools } from '@ethosagent/adapter-mastra';
import { toOpenAiTools } from '@ethosagent/adapter-openai-agents';
import { AgentLoop, createFleet } from '@ethosagent/agent-loop';
import { JsonlAuditSink, verifyAuditLog } from '@ethosagent/audit';
import { DefaultToolRegistry } from '@ethosagent/core';
import { createImageScaler } from '@ethosagent/image-scaler';
import { serveHttp, serveStdio } from '@ethosagent/mcp-server';
import { createTelemetry } from '@ethosagent/otel';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { createNetworkGuard, safeFetch } from '@ethosagent/safety-network';
import {
  createEnvSecrets,
  createFileSecrets,
  createHomeSecrets,
  createMarkdownMemory,
  FsStorage,
} from '@ethosagent/storage-fs';
import {
  createPostgresStores,
  createPostgresTurns,
  PostgresAuditSink,
  verifyPostgresAudit,
} from '@ethosagent/storage-postgres';
import { createRedisStores } from '@ethosagent/storage-redis';
import {
  createSqliteKvStore,
  createSqliteMemory,
  createSqliteSessionStore,
  createSqliteTurns,
} from '@ethosagent/storage-sqlite';
import { createFileTools } from '@ethosagent/tools-file';
import { createMemoryTools } from '@ethosagent/tools-memory';
import {
  createTerminalSendKeysTool,
  createTerminalStartTool,
  createTerminalTools,
} from '@ethosagent/tools-terminal';
import { createWebTools } from '@ethosagent/tools-web';
import { createToolRuntime, type ToolRuntime } from '@ethosagent/wiring';
import { createAgent } from '@ethosagent/wiring/agent';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

// Plain JavaScript passes what TypeScript would refuse. What is ignored may have been a limit.

const folder = mkdtempSync(join(tmpdir(), 'options-'));
let runtime: ToolRuntime;
beforeAll(async () => {
  const personality = join(folder, 'personalities', 'p');
  mkdirSync(personality, { recursive: true });
  writeFileSync(join(personality, 'config.yaml'), 'name: P\n');
  runtime = await createToolRuntime({
    home: folder,
    cwd: folder,
    personality: 'p',
    tools: [
      defineTool({
        name: 'write',
        description: 'Write.',
        schema: { type: 'object' },
        capabilities: {},
        execute: async () => ok('written'),
      }),
    ],
  });
});
afterAll(async () => {
  await runtime.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What takes a session, which is not the runtime. */
const OF_SESSIONS: [string, (session: never, options: never) => unknown][] = [
  ['aiTools', aiTools],
  ['mastraTools', mastraTools],
  ['toAnthropicTools', toAnthropicTools],
  ['toLangchainTools', toLangchainTools],
  ['toOpenAiTools', toOpenAiTools],
];

const TAKERS: [string, (options: never) => unknown][] = [
  ...OF_SESSIONS.map(([name, take]): [string, (options: never) => unknown] => [
    name,
    (options) => take(runtime.session('s') as never, options),
  ]),
  ['AgentLoop', (options) => new AgentLoop(options)],
  ['JsonlAuditSink', (options) => new JsonlAuditSink(options)],
  ['FsStorage', (options) => new FsStorage(options)],
  ['PostgresAuditSink.open', (options) => PostgresAuditSink.open(options)],
  ['backends of DefaultToolRegistry', (options) => new DefaultToolRegistry(options)],
  [
    'options of DefaultToolRegistry',
    (options) => new DefaultToolRegistry(undefined, undefined, options),
  ],
  ['createAgent', createAgent],
  ['createEnvSecrets', createEnvSecrets],
  ['createFileSecrets', createFileSecrets],
  ['createFleet', createFleet],
  ['createHomeSecrets', createHomeSecrets],
  ['createImageScaler', createImageScaler],
  ['createMarkdownMemory', createMarkdownMemory],
  ['createNetworkGuard', createNetworkGuard],
  ['createPostgresStores', createPostgresStores],
  ['createPostgresTurns', createPostgresTurns],
  ['createRedisStores', createRedisStores],
  ['createSearchFilesTool', createFileTools],
  ['createSessionSearchTool', createMemoryTools],
  ['createSqliteKvStore', createSqliteKvStore],
  ['createSqliteMemory', createSqliteMemory],
  ['createSqliteSessionStore', createSqliteSessionStore],
  ['createSqliteTurns', createSqliteTurns],
  ['createTelemetry', createTelemetry],
  ['createTerminalSendKeysTool', createTerminalSendKeysTool],
  ['createTerminalStartTool', createTerminalStartTool],
  ['createTerminalTool', createTerminalTools],
  ['createToolRuntime', createToolRuntime],
  ['createWebTools', createWebTools],
  ['runToolUse', (options) => runToolUse(runtime.session('s'), Object({ content: [] }), options)],
  ['safeFetch', (options) => safeFetch('http://127.0.0.1:9/', {}, options)],
  ['serveHttp', (options) => serveHttp(runtime, options)],
  ['serveStdio', (options) => serveStdio(runtime, options)],
  ['session', (options) => runtime.session('s', options)],
  ['startWorker', (options) => createFleet(Object({ turns: { put() {} } })).startWorker(options)],
  ['verifyAuditLog', verifyAuditLog],
  ['verifyPostgresAudit', verifyPostgresAudit],
];

describe.each(TAKERS)('%s', (name, take) => {
  it('refuses an option that there is not', async () => {
    await expect(async () => take({ denyPathz: ['/etc'] } as never)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(
        new RegExp(`^CONFIG_INVALID: ${name}: there is no option "denyPathz"; `),
      ),
    });
  });

  // An agent copies its options before it looks at them.
  it.skipIf(name === 'createAgent')('refuses what is no object', async () => {
    await expect(async () => take(['x'] as never)).rejects.toThrow(
      `CONFIG_INVALID: ${name}: the options are not an object; give an object with `,
    );
  });
});

describe.each(OF_SESSIONS)('%s', (name, take) => {
  it.each([
    ['the runtime', () => runtime],
    ['a promise', () => Promise.resolve(runtime.session('s'))],
    ['nothing', () => undefined],
  ])('given %s for a session, says what to give', async (_what, given) => {
    await expect(async () => take(given() as never, {} as never)).rejects.toThrow(
      `CONFIG_INVALID: ${name}: give a session of a runtime, such as runtime.session('first')`,
    );
  });
});

it.each([
  ['serveHttp', serveHttp],
  ['serveStdio', serveStdio],
] as const)('%s refuses a promise of a runtime', async (name, serve) => {
  await expect(async () =>
    serve(Promise.resolve(runtime) as never, { clients: {} }),
  ).rejects.toThrow(
    `CONFIG_INVALID: ${name}: the runtime is none; give one of createToolRuntime, after await`,
  );
});

describe('a batch with an option that there is not', () => {
  const calls = [{ toolCallId: '1', name: 'write', args: {} }];
  it('runs without it', async () => {
    const [answer] = await runtime.session('s').execute(calls);
    expect(answer?.result).toMatchObject({ ok: true, value: 'written' });
  });

  const misspelt = Object({ dryrun: true });
  const problem = /there is no option "dryrun"; did you mean "dryRun"\?/;

  it('does not run in a session', async () => {
    const session = runtime.session('s');
    expect(await session.execute(calls, misspelt)).toMatchObject([
      { result: { ok: false, error: expect.stringMatching(problem) } },
    ]);
  });

  it.each(['session', 'none'])('does not run in a runtime with protections: %s', async (which) => {
    const options = Object({ ...misspelt, protections: which });
    expect(await runtime.execute(calls, options)).toMatchObject([
      { result: { ok: false, cause: 'CONFIG_INVALID', error: expect.stringMatching(problem) } },
    ]);
  });
});
