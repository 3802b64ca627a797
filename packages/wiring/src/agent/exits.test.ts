import { type ToolExit, toolExitConformance } from '@ethosagent/conformance';
import { createToolsetHome, isLongRun } from '@ethosagent/test-support';
import type { AnyTool, ToolCall } from '@ethosagent/types';
import { convertArrayToReadableStream, MockLanguageModelV3 } from 'ai/test';
import { expect, it } from 'vitest';
import type { ToolRuntime } from '../runtime-api.js';
import { createToolRuntime } from '../tool-runtime.js';
import { createAgent } from './create-agent.js';

type Caller = (runtime: ToolRuntime) => Pick<ToolExit, 'call' | 'keep'>;

function runtimeExit(caller: Caller) {
  return async (tools: readonly AnyTool[]): Promise<ToolExit> => {
    const { home, setToolset, remove } = createToolsetHome('allowed_tool');
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

type ModelCall = Parameters<MockLanguageModelV3['doStream']>[0];

/** A model that makes the given calls in one step. Without calls, it says that it is done. */
function answering(next: (call: ModelCall) => readonly ToolCall[]) {
  return new MockLanguageModelV3({
    doStream: async (asked) => {
      const calls = next(asked);
      const unified = calls.length === 0 ? 'stop' : 'tool-calls';
      return {
        stream: convertArrayToReadableStream([
          ...calls.map(({ toolCallId, name: toolName, args }) => ({
            type: 'tool-call' as const,
            toolCallId,
            toolName,
            input: JSON.stringify(args),
          })),
          // The loop asks a model again that gives an empty answer.
          ...(calls.length > 0
            ? []
            : [
                { type: 'text-start' as const, id: 't' },
                { type: 'text-delta' as const, id: 't', delta: 'Done.' },
                { type: 'text-end' as const, id: 't' },
              ]),
          { type: 'finish' as const, finishReason: { unified, raw: unified } as const, usage },
        ]),
      };
    },
  });
}

toolExitConformance('the agent loop', async (tools) => {
  const { home, setToolset, remove } = createToolsetHome('allowed_tool');
  const steps: (readonly ToolCall[])[] = [];
  const model = answering(() => steps.shift() ?? []);
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

/** A tool that makes the calls in its arguments, whatever tools they name. */
function programOf(tools: readonly AnyTool[]): AnyTool {
  return {
    name: 'program',
    description: 'Makes calls.',
    schema: { type: 'object' },
    capabilities: { calls: { tools: tools.map(({ name }) => name) } },
    async execute({ calls }: { calls: readonly ToolCall[] }, ctx) {
      await Promise.allSettled(calls.map(({ name, args }) => ctx.calls?.call(name, args)));
      return { ok: true, value: 'made' };
    },
  };
}

const madeBy = (calls: readonly ToolCall[]): ToolCall[] => [
  { toolCallId: `program-${calls[0]?.toolCallId}`, name: 'program', args: { calls } },
];

toolExitConformance('a tool that makes calls', async (tools) => {
  const { home, setToolset, remove } = createToolsetHome('allowed_tool', 'program');
  const all = [...tools, programOf(tools)];
  const runtime = await createToolRuntime({ home, personality: 'clerk', tools: all });
  return {
    call: (calls) => runtime.execute(madeBy(calls)),
    listed: async () =>
      (await runtime.definitions()).flatMap(({ name }) => (name === 'program' ? [] : name)),
    setToolset: (names) => setToolset([...names, 'program']),
    async close() {
      await runtime.close();
      remove();
    },
  };
});

const agentsProgram = async (tools: readonly AnyTool[]): Promise<ToolExit> => {
  const { home, setToolset, remove } = createToolsetHome('allowed_tool', 'program');
  const steps: (readonly ToolCall[])[] = [];
  const model = answering(() => steps.shift() ?? []);
  const all = [...tools, programOf(tools)];
  const agent = await createAgent({ home, personality: 'clerk', tools: all, model });
  let sessions = 0;
  return {
    async call(calls) {
      steps.push(madeBy(calls));
      return agent.loop.ask({ sessionId: `s${++sessions}`, prompt: 'Go' });
    },
    listed: async () =>
      (await agent.runtime.definitions()).flatMap(({ name }) => (name === 'program' ? [] : name)),
    setToolset: (names) => setToolset([...names, 'program']),
    async close() {
      await agent.close();
      remove();
    },
  };
};
if (isLongRun()) toolExitConformance('a tool of an agent that makes calls', agentsProgram);

/** The prompt of the user, if the request contains no results yet. */
function firstPrompt({ prompt }: ModelCall): string | undefined {
  const last = prompt.at(-1);
  const part = last?.role === 'user' ? last.content[0] : undefined;
  return part?.type === 'text' ? part.text : undefined;
}

const subAgent = async (tools: readonly AnyTool[]): Promise<ToolExit> => {
  const { home, setToolset, remove } = createToolsetHome('allowed_tool', 'task');
  const steps = new Map<string, readonly ToolCall[]>();
  let told: string[] = [];
  const model = answering((asked) => {
    const prompt = firstPrompt(asked);
    if (prompt === undefined) return [];
    const calls = steps.get(prompt);
    if (calls === undefined) {
      return [{ toolCallId: `task-${prompt}`, name: 'task', args: { prompt: `below ${prompt}` } }];
    }
    told = (asked.tools ?? []).map(({ name }) => name);
    return calls;
  });
  const agent = await createAgent({
    home,
    personality: 'clerk',
    tools: [...tools, 'task'],
    model,
  });
  let sessions = 0;
  const call = async (calls: readonly ToolCall[]) => {
    const prompt = `p${++sessions}`;
    steps.set(`below ${prompt}`, calls);
    return agent.loop.ask({ sessionId: prompt, prompt });
  };
  return {
    call,
    async listed() {
      await call([]);
      return told.filter((name) => name !== 'task');
    },
    setToolset: (names) => setToolset([...names, 'task']),
    async close() {
      await agent.close();
      remove();
    },
  };
};
if (isLongRun()) toolExitConformance('a sub-agent', subAgent);

it('a sub-agent has and runs only what its personality allows', async () => {
  const ran: string[] = [];
  const tools = ['allowed_tool', 'denied_tool'].map(
    (name): AnyTool => ({
      name,
      description: `Is ${name}.`,
      schema: { type: 'object' },
      capabilities: {},
      async execute() {
        ran.push(name);
        return { ok: true, value: 'ran' };
      },
    }),
  );
  const exit = await subAgent(tools);
  const calls = tools.map(({ name }) => ({ toolCallId: name, name, args: {} }));
  try {
    expect(await exit.listed()).toEqual(['allowed_tool']);
    await exit.call(calls);
    expect(ran).toEqual(['allowed_tool']);
    await exit.setToolset(['denied_tool']);
    await exit.call(calls);
    expect(ran).toEqual(['allowed_tool', 'denied_tool']);
  } finally {
    await exit.close();
  }
});
