import Anthropic from '@anthropic-ai/sdk';
import {
  type AuditedExit,
  type AuditedExitParts,
  callEventConformance,
  type ToolExit,
  toolExitConformance,
} from '@ethosagent/conformance';
import type { ToolSession } from '@ethosagent/core';
import { createToolsetHome, isLongRun } from '@ethosagent/test-support';
import type { AnyTool, ToolCall } from '@ethosagent/types';
import { createToolRuntime } from '@ethosagent/wiring';
import { openMessagesApi, type Step } from './fixtures/messages-api.js';
import {
  recordUnknownTools,
  runToolUse,
  toAnthropicDefinitions,
  toAnthropicTools,
} from './index.js';

interface ExitParts {
  session: ToolSession;
  client: Anthropic;
  says: (...steps: Step[]) => unknown;
}

type Caller = (parts: ExitParts) => Pick<ToolExit, 'call' | 'keep'>;

function exit(caller: Caller) {
  return async (tools: readonly AnyTool[]): Promise<ToolExit> => {
    const { home, setToolset, remove } = createToolsetHome('allowed_tool');
    const api = await openMessagesApi();
    const runtime = await createToolRuntime({ home, personality: 'clerk', tools });
    const session = runtime.session('s');
    const client = new Anthropic({ apiKey: 'none', baseURL: api.url, maxRetries: 0 });
    return {
      ...caller({ session, client, says: api.says }),
      listed: async () => (await toAnthropicDefinitions(session)).map(({ name }) => name),
      setToolset,
      async close() {
        await runtime.close();
        await api.close();
        remove();
      },
    };
  };
}

const request = {
  model: 'scripted',
  max_tokens: 1000,
  messages: [{ role: 'user' as const, content: 'Go.' }],
};
const step = (calls: readonly ToolCall[]): Step =>
  calls.map(({ name, args, toolCallId }) => [name, args, toolCallId]);

toolExitConformance(
  'the tool runner of the Anthropic SDK',
  exit(({ session, client, says }) => ({
    async call(calls) {
      const tools = await toAnthropicTools(session);
      says(step(calls), 'Done.');
      return client.beta.messages.toolRunner({ ...request, tools });
    },
    async keep(name) {
      const tools = await toAnthropicTools(session);
      return async ({ args }) => tools.find((each) => each.name === name)?.run(args);
    },
  })),
);

// A check has the kept tool of the first suite, and of the contract.
if (isLongRun()) {
  toolExitConformance(
    'the tool runner of the Anthropic SDK, with tools that were kept',
    exit(({ session, client, says }) => {
      let kept: Awaited<ReturnType<typeof toAnthropicTools>> | undefined;
      return {
        async call(calls) {
          const tools = kept ?? (await toAnthropicTools(session));
          says(step(calls), 'Done.');
          return client.beta.messages.toolRunner({ ...request, tools });
        },
        async keep() {
          kept = await toAnthropicTools(session);
          return async () => {};
        },
      };
    }),
  );
}

toolExitConformance(
  'runToolUse of the Anthropic SDK',
  exit(({ session, client, says }) => {
    const call = async (calls: readonly ToolCall[]) => {
      const tools = await toAnthropicDefinitions(session);
      says(step(calls));
      return runToolUse(session, await client.messages.create({ ...request, tools }));
    };
    return { call, keep: async () => (each) => call([each]) };
  }),
);

/** Calls made by `run`, in a session that approves all of them. */
function audited(run: (parts: ExitParts, call: ToolCall) => Promise<unknown>) {
  return async ({ tools, toolset, audit }: AuditedExitParts): Promise<AuditedExit> => {
    const { home, remove } = createToolsetHome(...toolset);
    const api = await openMessagesApi();
    const runtime = await createToolRuntime({ home, personality: 'clerk', tools, audit });
    const session = runtime.session('s', { approve: () => true });
    const client = new Anthropic({ apiKey: 'none', baseURL: api.url, maxRetries: 0 });
    return {
      call: (call) => run({ session, client, says: api.says }, call),
      async close() {
        await runtime.close();
        await api.close();
        remove();
      },
    };
  };
}

callEventConformance(
  'the tool runner of the Anthropic SDK',
  audited(async ({ session, client, says }, call) => {
    const tools = await toAnthropicTools(session);
    says(step([call]), 'Done.');
    for await (const message of client.beta.messages.toolRunner({ ...request, tools })) {
      await recordUnknownTools(session, message, tools);
    }
  }),
);

callEventConformance(
  'runToolUse of the Anthropic SDK',
  audited(async ({ session, client, says }, call) => {
    const tools = await toAnthropicDefinitions(session);
    says(step([call]));
    await runToolUse(session, await client.messages.create({ ...request, tools }));
  }),
);
