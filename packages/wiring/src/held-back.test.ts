import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { AgentLoop } from '@ethosagent/agent-loop';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { ToolRuntime } from './runtime-api.js';
import { createToolRuntime } from './tool-runtime.js';

type Answer = Awaited<ReturnType<MockLanguageModelV3['doStream']>>;
type Part = Answer['stream'] extends ReadableStream<infer P> ? P : never;

function createHome(yaml: string): { home: string; put: (path: string, text: string) => void } {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'held-back-')));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  };
  put('personalities/coder/config.yaml', `name: Coder\n${yaml}`);
  return { home, put };
}

it('a model that calls a tool that is held back is told why', async () => {
  const { home } = createHome('tool_settings: {tuned: {limit: many}}\n');
  const tuned = defineTool({
    name: 'tuned',
    description: 'Says what it was set to.',
    input: z.object({}),
    settings: z.strictObject({ limit: z.int().default(1) }),
    capabilities: {},
    execute: async (_, { settings }) => ok(`limit ${settings.limit}`),
  });
  const runtime = await createToolRuntime({
    home,
    cwd: home,
    personality: 'coder',
    tools: [tuned],
  });
  onTestFinished(() => runtime.close());
  expect(await toldOf(runtime, 'tuned')).toEqual([
    expect.stringMatching(/tool_settings\.tuned\.limit: .*expected/),
  ]);
});

it('a model that calls a tool of an MCP server that is not there is told so, in few words', async () => {
  const { home, put } = createHome('mcp_servers: [gone]\n');
  put('mcp.json', '{"mcpServers": {"gone": {"command": "no-such-program-here"}}}');
  const runtime = await createToolRuntime({ home, cwd: home, personality: 'coder', mcp: true });
  onTestFinished(() => runtime.close());
  expect(await toldOf(runtime, 'mcp__gone__x')).toEqual([
    expect.stringMatching(
      /^mcp__gone__x is not available: the MCP server gone could not be started/,
    ),
  ]);
  expect(await toldOf(runtime, 'mcp__never__x')).toEqual(['there is no tool "mcp__never__x"']);
});

/** What a model is told when it calls a tool. */
async function toldOf(runtime: ToolRuntime, toolName: string): Promise<string[]> {
  let step = 0;
  const model = new MockLanguageModelV3({
    doStream: async () => {
      step += 1;
      const unified = step === 1 ? ('tool-calls' as const) : ('stop' as const);
      // The loop waits and asks again if the model gives an empty answer.
      const said: Part[] =
        step === 1
          ? [{ type: 'tool-call', toolCallId: 'c', toolName, input: '{}' }]
          : [
              { type: 'text-start', id: 't' },
              { type: 'text-delta', id: 't', delta: 'Done.' },
              { type: 'text-end', id: 't' },
            ];
      const finish: Part = {
        type: 'finish',
        finishReason: { unified, raw: unified },
        usage: {
          inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 1, text: 1, reasoning: 0 },
        },
      };
      return { stream: simulateReadableStream({ chunks: [...said, finish] }) };
    },
  });
  const loop = new AgentLoop({ model, tools: runtime, sessions: runtime.sessions });
  const told: string[] = [];
  for await (const event of loop.run({ sessionId: toolName, prompt: 'Go' })) {
    if (event.type === 'tool_end' && !event.result.ok) told.push(event.result.error);
  }
  return told;
}
