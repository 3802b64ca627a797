import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import { createToolRuntime, type ToolRuntime } from '@ethosagent/wiring';
import { z } from 'zod';
import { sideBySide } from './side-by-side.js';

const CALLS = 100;
const NONE = 'runtime.execute, protections none';

const add = defineTool({
  name: 'add',
  description: 'Adds.',
  input: z.object({ a: z.number(), b: z.number() }),
  capabilities: {},
  effects: [],
  execute: async ({ a, b }) => ok(`${a + b}`),
});

/** What the protections of a session cost a call that does next to nothing. */
export async function run(): Promise<void> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'bench-session-')));
  const folder = join(home, 'personalities', 'clerk');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.yaml'), 'name: Clerk\n');
  const runtime = await createToolRuntime({ home, personality: 'clerk', tools: [add] });
  try {
    await compare(`A session: ${CALLS} calls, one after the other`, runtime, 1);
    await compare(`A session: ${CALLS} calls, in batches of ten`, runtime, 10);
  } finally {
    await runtime.close();
    rmSync(home, { recursive: true });
  }
}

async function compare(title: string, runtime: ToolRuntime, size: number): Promise<void> {
  const clean = runtime.session('clean');
  const tainted = runtime.session('tainted');
  await tainted.addSource({ source: 'https://example.com/', tool: 'fetch' });
  let id = 0;
  const batch = () =>
    Array.from({ length: size }, () => ({
      toolCallId: `c${id++}`,
      name: 'add',
      args: { a: 1, b: 1 },
    }));
  const contender = (name: string, execute: (calls: ReturnType<typeof batch>) => unknown) => ({
    name,
    operations: CALLS,
    run: async () => {
      for (let count = 0; count < CALLS; count += size) await execute(batch());
    },
  });
  await sideBySide(title, [
    contender(NONE, (calls) => runtime.execute(calls, { protections: 'none' })),
    contender('runtime.execute', (calls) => runtime.execute(calls)),
    contender('session.execute', (calls) => clean.execute(calls)),
    contender('session.execute, after untrusted content', (calls) => tainted.execute(calls)),
  ]);
}
