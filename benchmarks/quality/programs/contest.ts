import { AgentLoop, registryTools } from '@ethosagent/agent-loop';
import { createInMemorySessionStore, DefaultToolRegistry } from '@ethosagent/core';
import { FsStorage } from '@ethosagent/storage-fs';
import { createCodeTools } from '@ethosagent/tools-code';
import { createFileTools } from '@ethosagent/tools-file';
import type { PersonalityConfig } from '@ethosagent/types';
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import { type Step, WAYS } from './scripts.js';
import type { Task } from './task.js';

/** What one way took. */
export interface Row {
  way: string;
  steps: number;
  /** Tokens that the model was sent, of all steps together, and of the largest one. */
  input: number;
  largest: number;
  /** Tokens that it wrote. */
  output: number;
  ms: number;
  /** What the last result said that it was given. */
  lastResult: string;
}

/** Counts the tokens of a text. */
export type CountTokens = (text: string) => number;

/** Goes each way once, with the same tools, over the same files. */
export async function contest(folder: string, task: Task, count: CountTokens): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [way, script] of Object.entries(WAYS)) {
    rows.push(await go(way, script(task), { folder, prompt: task.prompt, count }));
  }
  return rows;
}

async function go(
  way: string,
  script: readonly Step[],
  { folder, prompt, count }: { folder: string; prompt: string; count: CountTokens },
): Promise<Row> {
  const row: Row = { way, steps: 0, input: 0, largest: 0, output: 0, ms: 0, lastResult: '' };
  const model = new MockLanguageModelV3({
    provider: 'scripted',
    doStream: async ({ prompt: asked, tools = [] }) => {
      const step = script[row.steps++] ?? { text: 'done' };
      const input = count(JSON.stringify(tools)) + count(JSON.stringify(asked));
      row.input += input;
      row.largest = Math.max(row.largest, input);
      row.output += count((step.text ?? '') + (step.calls ? JSON.stringify(step.calls) : ''));
      return { stream: streamOf(step, row.steps) };
    },
  });
  const personality: PersonalityConfig = { id: 'clerk', name: 'Clerk' };
  const registry = new DefaultToolRegistry({
    storage: new FsStorage(),
    personalityFsReach: { read: [folder], write: [] },
    personalityToolSettings: (_, key) =>
      key === 'run_code' ? { tools: ['read_file'] } : undefined,
  });
  registry.registerAll([...createFileTools(), ...createCodeTools()]);
  const toolNames = ['read_file', 'run_code'];
  const loop = new AgentLoop({
    model,
    tools: registryTools(registry, personality, { workingDir: folder, toolNames }),
    sessions: createInMemorySessionStore(),
    limits: { maxSteps: 1_000, maxCalls: 1_000, resultBudgetChars: 1_000_000 },
    context: false,
  });
  const begun = performance.now();
  for await (const event of loop.run({ sessionId: 's', prompt })) {
    if (event.type !== 'tool_end') continue;
    const { result } = event;
    if (!result.ok) throw new TypeError(`${way}: ${result.error}`);
    row.lastResult = result.value;
  }
  row.ms = performance.now() - begun;
  return row;
}

function streamOf({ text, calls = [] }: Step, step: number) {
  const finish = calls.length > 0 ? 'tool-calls' : 'stop';
  return simulateReadableStream({
    initialDelayInMs: null,
    chunkDelayInMs: null,
    chunks: [
      { type: 'stream-start' as const, warnings: [] },
      ...(text === undefined
        ? []
        : ([
            { type: 'text-start', id: 't' },
            { type: 'text-delta', id: 't', delta: text },
            { type: 'text-end', id: 't' },
          ] as const)),
      ...calls.map(({ name, args }, at) => ({
        type: 'tool-call' as const,
        toolCallId: `s${step}c${at}`,
        toolName: name,
        input: JSON.stringify(args),
      })),
      {
        type: 'finish' as const,
        finishReason: { unified: finish as 'stop' | 'tool-calls', raw: finish },
        usage: {
          inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 1, text: 1, reasoning: 0 },
        },
      },
    ],
  });
}
