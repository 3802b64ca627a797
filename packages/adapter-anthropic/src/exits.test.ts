import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { type ToolExit, toolExitConformance } from '@ethosagent/conformance';
import type { ToolSession } from '@ethosagent/core';
import type { AnyTool, ToolCall } from '@ethosagent/types';
import { createToolRuntime } from '@ethosagent/wiring';
import { openMessagesApi, type Step } from './fixtures/messages-api.js';
import { runToolUse, toAnthropicDefinitions, toAnthropicTools } from './index.js';

interface ExitParts {
  session: ToolSession;
  client: Anthropic;
  says: (...steps: Step[]) => unknown;
}

type Caller = (parts: ExitParts) => Pick<ToolExit, 'call' | 'keep'>;

function exit(caller: Caller) {
  return async (tools: readonly AnyTool[]): Promise<ToolExit> => {
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'exit-')));
    const folder = join(home, 'personalities', 'clerk');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const setToolset = async (names: readonly string[]) =>
      writeFileSync(join(folder, 'config.yaml'), `name: Clerk\ntoolset: [${names.join(', ')}]\n`);
    await setToolset(['allowed_tool']);
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
        rmSync(home, { recursive: true, force: true });
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
