import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ToolSession } from '@ethosagent/core';
import { createToolRuntime, type ToolRuntime } from '@ethosagent/wiring';
import { args, type FrameworkRuns, gated, name, newId, STEPS } from './frameworks/add.js';
import { sideBySide } from './side-by-side.js';

const NONE = 'runtime.execute, protections none';

/** By framework: what its own tools and those of a session are called with. */
const FRAMEWORKS: Record<
  string,
  (session: ToolSession, runtime: ToolRuntime) => Promise<FrameworkRuns>
> = {
  'AI SDK': async (session) => (await import('./frameworks/ai-sdk.js')).create(session),
  LangChain: async (session) => (await import('./frameworks/langchain.js')).create(session),
  'OpenAI Agents': async (session) =>
    (await import('./frameworks/openai-agents.js')).create(session),
  Anthropic: async (session) => (await import('./frameworks/anthropic.js')).create(session),
  Mastra: async (session) => (await import('./frameworks/mastra.js')).create(session),
  MCP: async (_, runtime) => (await import('./frameworks/mcp-server.js')).create(runtime),
};

/**
 * What the protections of a session cost a call that does next to nothing: beside `runtime.execute`
 * without them, and in each framework beside the framework's own tool, which nothing gates.
 */
export async function run(): Promise<void> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'bench-session-')));
  const folder = join(home, 'personalities', 'clerk');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.yaml'), 'name: Clerk\n');
  const runtime = await createToolRuntime({ home, personality: 'clerk', tools: [gated] });
  try {
    await compare(`A session: ${STEPS} calls, one after the other`, runtime, 1);
    await compare(`A session: ${STEPS} calls, in batches of ten`, runtime, 10);
    for (const [framework, create] of Object.entries(FRAMEWORKS)) {
      await compareFramework(framework, await create(runtime.session(framework), runtime));
    }
  } finally {
    await runtime.close();
    rmSync(home, { recursive: true });
  }
}

async function compareFramework(framework: string, runs: FrameworkRuns): Promise<void> {
  const own = `${framework}, its own tool`;
  await sideBySide(`${framework}: a run of ${STEPS} calls, one a step`, [
    { name: own, operations: STEPS, run: runs.own },
    { name: `${framework}, the adapter`, operations: STEPS, run: runs.ours, beside: own },
  ]);
  await runs.close?.();
}

async function compare(title: string, runtime: ToolRuntime, size: number): Promise<void> {
  const clean = runtime.session('clean');
  const tainted = runtime.session('tainted');
  await tainted.addSource({ source: 'https://example.com/', tool: 'fetch' });
  const batch = () => Array.from({ length: size }, () => ({ toolCallId: newId(), name, args }));
  const contender = (
    contenderName: string,
    execute: (calls: ReturnType<typeof batch>) => unknown,
  ) => ({
    name: contenderName,
    operations: STEPS,
    run: async () => {
      for (let count = 0; count < STEPS; count += size) await execute(batch());
    },
    ...(contenderName !== NONE && { beside: NONE }),
  });
  await sideBySide(title, [
    contender(NONE, (calls) => runtime.execute(calls, { protections: 'none' })),
    contender('runtime.execute', (calls) => runtime.execute(calls)),
    contender('session.execute', (calls) => clean.execute(calls)),
    contender('session.execute, after untrusted content', (calls) => tainted.execute(calls)),
  ]);
}
