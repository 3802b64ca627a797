import { createInMemoryKvStore, DefaultToolRegistry } from '@ethosagent/core';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { InMemoryStorage } from '@ethosagent/storage-fs';
import { collectGarbage } from '@ethosagent/test-support';
import type { ToolBatchContext, ToolCapabilities } from '@ethosagent/types';
import { z } from 'zod';
import { bytes, type Contender, median, printTable, sideBySide } from './side-by-side.js';

const CALLS = 100;
/** Few enough that the young generation of the heap holds all of them. */
const HEAP_OPERATIONS = 200;
const HEAP_ROUNDS = 7;
const HAND_WRITTEN = 'Promise.all over look-up, zod.parse, function';
const input = z.object({ city: z.string(), days: z.number() });
type Args = z.infer<typeof input>;
const answer = ({ city, days }: Args) => `${city}: ${days}`;

const everything = {
  network: { allowedHosts: ['api.example.com'] },
  secrets: ['providers/example/apiKey'],
  storage: { scope: 'tool-private', kind: 'kv' },
  fs_reach: { read: 'from-personality', write: 'from-personality' },
  process: { allowedBinaries: ['git'] },
} satisfies ToolCapabilities;

/** The cost of one call in a batch of 100, beside what one would write by hand. */
export async function run(): Promise<void> {
  const storage = new InMemoryStorage();
  await storage.write('/data/a.txt', 'x'.repeat(1024));
  const { kvStoreFactory } = createInMemoryKvStore();
  const registry = new DefaultToolRegistry({
    kvStoreFactory,
    secretsBackend: async () => 'sk-0123456789abcdef',
    storage,
    personalityFsReach: { read: ['/data'], write: ['/data'] },
    personalityNetworkAllow: ['api.example.com'],
    fetch: async () => new Response('ok'),
    lookup: async () => [{ address: '93.184.216.34', family: 4 }],
  });
  const define = (name: string, capabilities: ToolCapabilities) =>
    registry.register(
      defineTool({
        name,
        description: 'Answers.',
        input,
        capabilities,
        execute: async (args) => ok(answer(args)),
      }),
    );
  define('bare', {});
  define('declares_all', everything);
  registry.register(
    defineTool({
      name: 'touches_all',
      description: 'Touches every accessor.',
      input,
      capabilities: everything,
      async execute(args, ctx) {
        await ctx.secretsResolver.get('providers/example/apiKey');
        await ctx.scopedFs.read('/data/a.txt');
        await ctx.kvStore.get('k');
        return ok(answer(args));
      },
    }),
  );
  registry.register(
    defineTool({
      name: 'takes_all',
      description: 'Takes every accessor, and uses none.',
      input,
      capabilities: everything,
      async execute(args, ctx) {
        const taken = [ctx.secretsResolver, ctx.scopedFs, ctx.kvStore];
        if (![...taken, ctx.scopedFetch, ctx.scopedProcess].every(Boolean)) {
          throw new Error('an accessor is missing');
        }
        return ok(answer(args));
      },
    }),
  );
  const args = Array.from({ length: CALLS }, (_, days) => ({ city: 'London', days }));
  const callsOf = (name: string) =>
    args.map((each, index) => ({ toolCallId: `${index}`, name, args: each }));
  const ctx: ToolBatchContext = {
    sessionId: 's',
    sessionKey: 's',
    platform: 'bench',
    workingDir: '/',
    currentTurn: 1,
    messageCount: 0,
    abortSignal: new AbortController().signal,
    emit: () => {},
  };
  const batch = (name: string) => {
    const calls = callsOf(name);
    return async () => {
      const results = await registry.executeParallel(calls, ctx);
      if (results.some(({ result }) => !result.ok)) throw new Error(JSON.stringify(results[0]));
    };
  };
  await batch('touches_all')();
  const byHand = new Map([['bare', async (raw: unknown) => ok(answer(input.parse(raw)))]]);
  const handWritten = (calls: ReturnType<typeof callsOf>) => () =>
    Promise.all(
      calls.map(async ({ toolCallId, name, args: raw }) => ({
        toolCallId,
        name,
        result: await byHand.get(name)?.(raw),
      })),
    );
  const handCalls = callsOf('bare');
  const inBatch: Contender[] = [
    {
      name: HAND_WRITTEN,
      operations: CALLS,
      run: handWritten(handCalls),
    },
    {
      name: 'executeParallel, no capabilities',
      operations: CALLS,
      run: batch('bare'),
      goal: { atMost: 3, of: HAND_WRITTEN },
    },
    {
      name: 'executeParallel, five capabilities, none touched',
      operations: CALLS,
      run: batch('declares_all'),
      goal: { atMost: 1.3, of: 'executeParallel, no capabilities' },
    },
    {
      name: 'executeParallel, five capabilities, all taken',
      operations: CALLS,
      run: batch('takes_all'),
      beside: 'executeParallel, no capabilities',
    },
    {
      name: 'executeParallel, a secret, a file and the store used',
      operations: CALLS,
      run: batch('touches_all'),
    },
  ];
  await sideBySide('Dispatch: one call in a batch of 100', inBatch);
  const single = (name: string) => {
    const [call] = callsOf(name);
    return () => registry.executeParallel(call === undefined ? [] : [call], ctx);
  };
  const alone: Contender[] = [
    { name: HAND_WRITTEN, operations: 1, run: handWritten(handCalls.slice(0, 1)) },
    ...(await peers()),
    {
      name: 'executeParallel, no capabilities',
      operations: 1,
      run: single('bare'),
      beside: HAND_WRITTEN,
    },
    {
      name: 'executeParallel, five capabilities, none touched',
      operations: 1,
      run: single('declares_all'),
      goal: { atMost: 1.3, of: 'executeParallel, no capabilities' },
    },
  ];
  await sideBySide('Dispatch: a single call', alone);
  await heap('Dispatch: heap of one call in a batch of 100', inBatch.map(withoutGoal));
  await heap('Dispatch: heap of a single call', alone.map(withoutGoal));
}

/** The goals are of times. */
function withoutGoal({ goal: _, beside: __, ...contender }: Contender): Contender {
  return contender;
}

/** What calls allocate, beside what one would write by hand. */
async function heap(title: string, contenders: readonly Contender[]): Promise<void> {
  const samples = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  for (let round = 0; round < HEAP_ROUNDS; round++) {
    for (const { name, operations, run } of contenders) {
      samples.get(name)?.push(await allocated(run, operations));
    }
  }
  printTable(title, contenders, { samples, pick: median, unit: bytes });
}

/** Bytes that an operation allocates. There must be room for all of them without a collection. */
async function allocated(run: Contender['run'], operations: number): Promise<number> {
  const runs = Math.ceil(HEAP_OPERATIONS / operations);
  for (let count = 0; count < runs; count++) await run();
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let count = 0; count < runs; count++) await run();
  return (process.memoryUsage().heapUsed - before) / (runs * operations);
}

/** A call of the same tool as frameworks make it, without gates. */
async function peers(): Promise<Contender[]> {
  const described = { description: 'Answers.', execute: async (args: Args) => answer(args) };
  const { tool: langchainTool } = await import('@langchain/core/tools');
  const { tool: agentsTool, RunContext } = await import('@openai/agents-core');
  const langchain = langchainTool(described.execute, {
    name: 'answer',
    description: described.description,
    schema: input,
  });
  const { createTool } = await import('@mastra/core/tools');
  const mastra = createTool({
    id: 'answer',
    description: described.description,
    inputSchema: input,
    execute: async (it) => answer(it),
  });
  const agents = agentsTool({ name: 'answer', ...described, parameters: input });
  // Its type asks for a context that only its agents have, and that the tool does not use.
  const mastraCall = (...given: unknown[]) =>
    Reflect.apply(mastra.execute ?? answer, mastra, given);
  const args = { city: 'London', days: 1 };
  const text = JSON.stringify(args);
  const context = new RunContext();
  return [
    { name: 'LangChain, tool.invoke', operations: 1, run: () => langchain.invoke(args) },
    { name: 'OpenAI Agents, tool.invoke', operations: 1, run: () => agents.invoke(context, text) },
    { name: 'Mastra, tool.execute', operations: 1, run: () => mastraCall(args, {}) },
  ];
}
