import { callEventConformance, type ToolExit, toolExitConformance } from '@ethosagent/conformance';
import type { ToolSession } from '@ethosagent/core';
import { createToolsetHome, isLongRun } from '@ethosagent/test-support';
import type { AnyTool, ToolCall } from '@ethosagent/types';
import { createToolRuntime } from '@ethosagent/wiring';
import { Agent, RunContext, Runner } from '@openai/agents';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { storesOfHome } from './fixtures/stores.js';
import { type OpenAiTool, openAiRefusals, toOpenAiTools } from './index.js';

const runner = new Runner({
  tracingDisabled: true,
  // Otherwise a run ends at the first unknown name.
  toolNotFoundBehavior: 'return_error_to_model',
});

function ask(tools: OpenAiTool[], calls: readonly ToolCall[]): Promise<unknown> {
  const step = calls.map(({ name, args, toolCallId: callId }) =>
    functionCall(name, JSON.stringify(args), { callId }),
  );
  const model = new ScriptedModel([step, [assistantMessage('Done.')]]);
  return runner.run(new Agent({ name: 'clerk', model, tools }), 'Go.');
}

function exit(caller: (session: ToolSession) => Pick<ToolExit, 'call' | 'keep'>) {
  return async (tools: readonly AnyTool[]): Promise<ToolExit> => {
    const { home, setToolset, remove } = createToolsetHome('allowed_tool');
    const stores = storesOfHome();
    const runtime = await createToolRuntime({ home, personality: 'clerk', tools, stores });
    const session = runtime.session('s');
    return {
      ...caller(session),
      listed: async () => (await toOpenAiTools(session)).map(({ name }) => name),
      setToolset,
      async close() {
        await runtime.close();
        remove();
      },
    };
  };
}

toolExitConformance(
  'a run of the OpenAI Agents SDK',
  exit((session) => ({
    call: async (calls) => ask(await toOpenAiTools(session), calls),
    async keep(name) {
      const kept = (await toOpenAiTools(session)).find((each) => each.name === name);
      return async ({ args }) => kept?.invoke(new RunContext(), JSON.stringify(args));
    },
  })),
);

// A check has the kept tool of the first suite, and of the contract.
if (isLongRun()) {
  toolExitConformance(
    'a run of the OpenAI Agents SDK, with tools that were kept',
    exit((session) => {
      let kept: OpenAiTool[] | undefined;
      return {
        call: async (calls) => ask(kept ?? (await toOpenAiTools(session)), calls),
        async keep() {
          kept = await toOpenAiTools(session);
          return async () => {};
        },
      };
    }),
  );
}

callEventConformance('a run of the OpenAI Agents SDK', async ({ tools, toolset, audit }) => {
  const { home, remove } = createToolsetHome(...toolset);
  const stores = storesOfHome();
  const runtime = await createToolRuntime({ home, personality: 'clerk', tools, stores, audit });
  const session = runtime.session('s');
  const recording = new Runner({ tracingDisabled: true, ...openAiRefusals(session) });
  return {
    async call({ name, args, toolCallId: callId }) {
      const step = [functionCall(name, JSON.stringify(args), { callId })];
      const model = new ScriptedModel([step, [assistantMessage('Done.')]]);
      const agent = new Agent({ name: 'clerk', model, tools: await toOpenAiTools(session) });
      const paused = await recording.run(agent, 'Go.');
      for (const each of paused.interruptions) paused.state.approve(each);
      return paused.interruptions.length > 0 && recording.run(agent, paused.state);
    },
    async close() {
      await runtime.close();
      remove();
    },
  };
});
