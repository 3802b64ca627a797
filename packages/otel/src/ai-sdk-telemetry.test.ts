import { join } from 'node:path';
import { createToolRuntime } from '@ethosagent/wiring';
import { context } from '@opentelemetry/api';
import { generateText, jsonSchema, stepCountIs, tool } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { openProviders, openWorld } from './fixtures/otel-world.js';
import { createTelemetry } from './telemetry.js';

let world: ReturnType<typeof openWorld>;
let providers: ReturnType<typeof openProviders>;
beforeEach(() => {
  world = openWorld();
  providers = openProviders();
  context.setGlobalContextManager(providers.contexts);
});
afterEach(async () => {
  context.disable();
  await providers.close();
  world.remove();
});

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
};

/** Runs the AI SDK with one call of our tool. Returns the spans of both. */
async function spansOfRun(path: string, isEnabled: boolean) {
  const { tracer, meter } = providers;
  const { home, cwd, tools } = world;
  const runtime = await createToolRuntime({
    home,
    cwd,
    tools,
    personality: 'reader',
    audit: [createTelemetry({ tracer, meter }).sink],
  });
  onTestFinished(() => runtime.close());
  let asked = 0;
  const model = new MockLanguageModelV3({
    doGenerate: async () => {
      asked += 1;
      const input = JSON.stringify({ path });
      return asked === 1
        ? {
            content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'read', input }],
            finishReason: { unified: 'tool-calls', raw: '' },
            usage,
            warnings: [],
          }
        : {
            content: [{ type: 'text', text: 'Done.' }],
            finishReason: { unified: 'stop', raw: '' },
            usage,
            warnings: [],
          };
    },
  });
  const read = tool({
    inputSchema: jsonSchema<{ path: string }>({ type: 'object' }),
    execute: async (args, { toolCallId }) => {
      const [answer] = await runtime.execute([{ toolCallId, name: 'read', args }]);
      return answer?.result.ok === true ? answer.result.value : 'failed';
    },
  });
  await generateText({
    model,
    tools: { read },
    prompt: 'Go',
    stopWhen: stepCountIs(3),
    experimental_telemetry: { isEnabled, tracer },
  });
  return providers.spans.getFinishedSpans();
}

it.each([
  ['a.txt', 'ok', 'allowed'],
  ['../../secret', 'execution_failed', 'denied'],
])('under the telemetry of the AI SDK, the call of %s is its span alone', async (file, ...said) => {
  const spans = await spansOfRun(join(world.cwd, 'notes', file), true);
  const ofCall = spans.filter(({ name }) => /toolCall|execute_tool/.test(name));
  expect(ofCall.map(({ name }) => name)).toEqual(['ai.toolCall']);
  const [call] = ofCall;
  const access = spans.find(({ name }) => name.startsWith('fs_reach.read'));
  expect([call?.attributes['ethos.outcome'], access?.attributes['ethos.access.decision']]).toEqual(
    said,
  );
  expect(access?.parentSpanContext?.spanId).toBe(call?.spanContext().spanId);
  expect(spans.filter(({ name }) => /^(chat|invoke_agent)/.test(name))).toEqual([]);
  const ids = new Set(spans.map((span) => span.spanContext().traceId));
  expect(ids.size).toBe(1);
});

it('without the telemetry of the AI SDK, the call has the span of ours', async () => {
  const spans = await spansOfRun(join(world.cwd, 'notes', 'a.txt'), false);
  expect(spans.filter(({ name }) => /^ai\./.test(name))).toEqual([]);
  expect(spans.filter(({ name }) => name === 'execute_tool read')).toHaveLength(1);
});
