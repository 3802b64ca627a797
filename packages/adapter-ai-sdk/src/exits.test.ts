import { type ToolExit, toolExitConformance } from '@ethosagent/conformance';
import type { ToolSession } from '@ethosagent/core';
import { createToolsetHome } from '@ethosagent/test-support';
import type { AnyTool, ToolCall } from '@ethosagent/types';
import { createToolRuntime } from '@ethosagent/wiring';
import { generateText, stepCountIs } from 'ai';
import { scriptedModel } from './fixtures/scripted-model.js';
import { type AiTool, aiTools } from './index.js';

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
