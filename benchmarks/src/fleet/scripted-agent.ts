import { AgentLoop, registryTools } from '@ethosagent/agent-loop';
import { DefaultToolRegistry } from '@ethosagent/core';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import type { SessionStore } from '@ethosagent/types';
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import { z } from 'zod';

/** Calls of a turn; with the answer it has one step more. */
const CALLS = 4;

/** An agent that calls a tool four times and answers, and how long its steps took. */
export function createScriptedAgent(sessions: SessionStore): {
  loop: AgentLoop;
  /** Milliseconds from one question to the model to the next, in a turn. The model takes none. */
  steps: number[];
} {
  const steps: number[] = [];
  const askedAt = new Map<string, number>();
  const registry = new DefaultToolRegistry();
  registry.register(
    defineTool({
      name: 'note',
      description: 'Notes a line.',
      input: z.object({ line: z.string() }),
      capabilities: {},
      execute: async ({ line }) => ok(`noted ${line}`),
    }),
  );
  const model = new MockLanguageModelV3({
    provider: 'scripted',
    doStream: async ({ prompt }) => {
      const [first] = prompt.flatMap(({ role, content }) => (role === 'user' ? content : []));
      const session = first?.type === 'text' ? first.text : '';
      const at = prompt.filter(({ role }) => role === 'tool').length;
      const before = askedAt.get(session);
      if (at > 0 && before !== undefined) steps.push(performance.now() - before);
      askedAt.set(session, performance.now());
      return {
        stream: simulateReadableStream({
          chunks: answer(at),
          initialDelayInMs: null,
          chunkDelayInMs: null,
        }),
      };
    },
  });
  const personality = { id: 'worker', name: 'Worker' };
  const tools = registryTools(registry, personality, { workingDir: process.cwd() });
  return { loop: new AgentLoop({ model, tools, sessions, context: false }), steps };
}

type Chunk =
  Awaited<ReturnType<MockLanguageModelV3['doStream']>>['stream'] extends ReadableStream<infer P>
    ? P
    : never;

function answer(at: number): Chunk[] {
  const isCall = at < CALLS;
  const unified = isCall ? 'tool-calls' : 'stop';
  return [
    { type: 'stream-start', warnings: [] },
    ...(isCall
      ? ([
          {
            type: 'tool-call',
            toolCallId: `call-${at}`,
            toolName: 'note',
            input: JSON.stringify({ line: `line ${at} ${'of the work '.repeat(10)}` }),
          },
        ] as const)
      : ([
          { type: 'text-start', id: 't' },
          { type: 'text-delta', id: 't', delta: 'It is done. '.repeat(10) },
          { type: 'text-end', id: 't' },
        ] as const)),
    {
      type: 'finish',
      finishReason: { unified, raw: unified },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      },
    },
  ];
}
