import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ToolExit, toolExitConformance } from '@ethosagent/conformance';
import type { AnyTool, ToolCall } from '@ethosagent/types';
import { convertArrayToReadableStream, MockLanguageModelV3 } from 'ai/test';
import type { ToolRuntime } from '../runtime-api.js';
import { createToolRuntime } from '../tool-runtime.js';
import { createAgent } from './create-agent.js';

/** A home whose personality has the tools of a list. */
function openHome() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'exit-')));
  const folder = join(home, 'personalities', 'clerk');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const setToolset = async (names: readonly string[]) =>
    writeFileSync(join(folder, 'config.yaml'), `name: Clerk\ntoolset: [${names.join(', ')}]\n`);
  return {
    home,
    setToolset,
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

type Caller = (runtime: ToolRuntime) => Pick<ToolExit, 'call' | 'keep'>;

function runtimeExit(caller: Caller) {
  return async (tools: readonly AnyTool[]): Promise<ToolExit> => {
    const { home, setToolset, remove } = openHome();
    await setToolset(['allowed_tool']);
    const runtime = await createToolRuntime({ home, personality: 'clerk', tools });
    return {
      ...caller(runtime),
      listed: async () => (await runtime.definitions()).map(({ name }) => name),
      setToolset,
      async close() {
        await runtime.close();
        remove();
      },
    };
  };
}

toolExitConformance(
  'runtime.execute',
  runtimeExit((runtime) => ({ call: (calls) => runtime.execute(calls) })),
);

toolExitConformance(
  'runtime.execute without protections',
  runtimeExit((runtime) => ({
    call: (calls) => runtime.execute(calls, { protections: 'none' }),
  })),
);

toolExitConformance(
  'a session',
  runtimeExit((runtime) => {
    const session = runtime.session('s');
    return {
      call: (calls) => session.execute(calls),
      keep: async () => (call) => session.execute([call]),
    };
  }),
);

toolExitConformance(
  'a call of a session that was approved before it was denied',
  runtimeExit((runtime) => {
    const session = runtime.session('s');
    const approve = async (calls: readonly ToolCall[]) => {
      for (const call of calls) {
        const checked = await session.check(call);
        if (checked.kind !== 'asks') continue;
        await session.decide(checked.approval, { approved: true, always: 'tool' });
      }
    };
    return {
      async call(calls) {
        await session.addSource({ source: 'x', tool: 'y' });
        await approve(calls);
        return session.execute(calls);
      },
      async keep(name) {
        const call = { toolCallId: 'kept', name, args: {} };
        await approve([call]);
        return () => session.resume();
      },
    };
  }),
);

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

toolExitConformance('the agent loop', async (tools) => {
  const { home, setToolset, remove } = openHome();
  await setToolset(['allowed_tool']);
  const steps: (readonly ToolCall[])[] = [];
  const model = new MockLanguageModelV3({
    doStream: async () => {
      const calls = steps.shift() ?? [];
      const unified = calls.length === 0 ? 'stop' : 'tool-calls';
      return {
        stream: convertArrayToReadableStream([
          ...calls.map(({ toolCallId, name: toolName, args }) => ({
            type: 'tool-call' as const,
            toolCallId,
            toolName,
            input: JSON.stringify(args),
          })),
          { type: 'finish' as const, finishReason: { unified, raw: unified } as const, usage },
        ]),
      };
    },
  });
  const agent = await createAgent({ home, personality: 'clerk', tools, model });
  let sessions = 0;
  return {
    async call(calls) {
      steps.push(calls);
      return agent.loop.ask({ sessionId: `s${++sessions}`, prompt: 'Go' });
    },
    listed: async () => (await agent.runtime.definitions()).map(({ name }) => name),
    setToolset,
    async close() {
      await agent.close();
      remove();
    },
  };
});
