import { callEventConformance, type ToolExit, toolExitConformance } from '@ethosagent/conformance';
import { MemoryAuditSink, type ToolSession } from '@ethosagent/core';
import { createToolsetHome, isLongRun } from '@ethosagent/test-support';
import type { AnyTool, ToolCall } from '@ethosagent/types';
import { createToolRuntime } from '@ethosagent/wiring';
import { generateText, jsonSchema, stepCountIs, tool } from 'ai';
import { expect, it } from 'vitest';
import { scriptedModel } from './fixtures/scripted-model.js';
import { type AiTool, aiRefusals, aiTools } from './index.js';

type Tools = Record<string, AiTool>;

async function ask(tools: Tools, calls: readonly ToolCall[]): Promise<unknown> {
  const step = calls.map(({ name, args, toolCallId }): [string, unknown, string] => [
    name,
    args,
    toolCallId,
  ]);
  const model = scriptedModel(step, 'Done.');
  return generateText({ model, tools, prompt: 'Go.', stopWhen: stepCountIs(3) });
}

function exit(caller: (session: ToolSession) => Pick<ToolExit, 'call' | 'keep'>) {
  return async (tools: readonly AnyTool[]): Promise<ToolExit> => {
    const { home, setToolset, remove } = createToolsetHome('allowed_tool');
    const runtime = await createToolRuntime({ home, personality: 'clerk', tools });
    const session = runtime.session('s');
    return {
      ...caller(session),
      listed: async () => Object.keys(await aiTools(session)),
      setToolset,
      async close() {
        await runtime.close();
        remove();
      },
    };
  };
}

toolExitConformance(
  'the loop of the AI SDK',
  exit((session) => ({
    call: async (calls) => ask(await aiTools(session), calls),
    async keep(name) {
      const tools = await aiTools(session);
      return async ({ args, toolCallId }) =>
        tools[name]?.execute?.(args, { toolCallId, messages: [] });
    },
  })),
);

// A check has the kept tool of the first suite, and of the contract.
if (isLongRun()) {
  toolExitConformance(
    'the loop of the AI SDK, with tools that were kept',
    exit((session) => {
      let kept: Tools | undefined;
      return {
        call: async (calls) => ask(kept ?? (await aiTools(session)), calls),
        async keep() {
          kept = await aiTools(session);
          return async () => {};
        },
      };
    }),
  );
}

it('aiRefusals writes down a call whose arguments are no JSON, of tools of the session alone', async () => {
  const { home, remove } = createToolsetHome('read_file');
  const audit = new MemoryAuditSink();
  const runtime = await createToolRuntime({
    home,
    personality: 'clerk',
    tools: ['read_file'],
    audit,
  });
  const session = runtime.session('s');
  const mine = tool({ inputSchema: jsonSchema({ type: 'object' }), execute: async () => 'ran' });
  await generateText({
    model: scriptedModel([
      ['read_file', '{"path":', 'torn'],
      ['mine', '{', 'foreign'],
    ]),
    tools: { ...(await aiTools(session)), mine },
    prompt: 'Go.',
    experimental_repairToolCall: aiRefusals(session),
  });
  expect(audit.calls).toMatchObject([{ toolCallId: 'torn', outcome: 'input_invalid' }]);
  await runtime.close();
  remove();
});

callEventConformance('the loop of the AI SDK', async ({ tools, toolset, audit }) => {
  const { home, remove } = createToolsetHome(...toolset);
  const runtime = await createToolRuntime({ home, personality: 'clerk', tools, audit });
  const session = runtime.session('s', { approve: () => true });
  return {
    call: async ({ name, args, toolCallId }) =>
      generateText({
        model: scriptedModel([[name, args, toolCallId]], 'Done.'),
        tools: await aiTools(session, { approvals: 'session' }),
        prompt: 'Go.',
        stopWhen: stepCountIs(3),
        experimental_repairToolCall: aiRefusals(session),
      }),
    async close() {
      await runtime.close();
      remove();
    },
  };
});
