import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { AgentLoop } from '@ethosagent/agent-loop';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { createToolRuntime } from './tool-runtime.js';

type Answer = Awaited<ReturnType<MockLanguageModelV3['doStream']>>;
type Part = Answer['stream'] extends ReadableStream<infer P> ? P : never;

it('a model that calls a tool that is held back is told why', async () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'held-back-')));
  const file = join(home, 'personalities', 'coder', 'config.yaml');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, 'name: Coder\ntool_settings: {tuned: {limit: many}}\n');
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
  onTestFinished(async () => {
    await runtime.close();
    rmSync(home, { recursive: true, force: true });
  });
  let step = 0;
  const model = new MockLanguageModelV3({
    doStream: async () => {
      step += 1;
      const unified = step === 1 ? ('tool-calls' as const) : ('stop' as const);
      const said: Part[] =
        step === 1 ? [{ type: 'tool-call', toolCallId: 'c', toolName: 'tuned', input: '{}' }] : [];
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
  for await (const event of loop.run({ sessionId: 's', prompt: 'Go' })) {
    if (event.type === 'tool_end' && !event.result.ok) told.push(event.result.error);
  }
  expect(told).toEqual([expect.stringMatching(/tool_settings\.tuned\.limit: .*expected/)]);
});
