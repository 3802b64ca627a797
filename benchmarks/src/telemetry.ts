import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTelemetry } from '@ethosagent/otel';
import { defineTool, ok } from '@ethosagent/plugin-sdk';
import type { AuditSink } from '@ethosagent/types';
import { createToolRuntime, type ToolRuntime } from '@ethosagent/wiring';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  InMemorySpanExporter,
} from '@opentelemetry/sdk-trace-base';
import { z } from 'zod';
import { sideBySide } from './side-by-side.js';

const CALLS = 100;

const read = defineTool({
  name: 'read',
  description: 'Reads.',
  input: z.object({ path: z.string() }),
  capabilities: { fs_reach: { read: 'from-personality' } },
  effects: [],
  execute: async ({ path }, ctx) => ok(await ctx.scopedFs.read(path)),
});

/**
 * What telemetry costs a call with one access: none, without a provider of OpenTelemetry (off), and
 * with one that keeps what it is given (on).
 */
export async function run(): Promise<void> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'bench-telemetry-')));
  mkdirSync(join(home, 'personalities', 'reader'), { recursive: true, mode: 0o700 });
  mkdirSync(join(home, 'notes'));
  const path = join(home, 'notes', 'a.txt');
  writeFileSync(path, 'hello');
  writeFileSync(
    join(home, 'personalities', 'reader', 'config.yaml'),
    'name: Reader\nfs_reach:\n  read: ["${ETHOS_HOME}/notes"]\n',
  );
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  const meters = new MeterProvider();
  const runtimes: ToolRuntime[] = [];
  const contender = async (name: string, audit: AuditSink[]) => {
    const runtime = await createToolRuntime({ home, personality: 'reader', tools: [read], audit });
    runtimes.push(runtime);
    return {
      name,
      operations: CALLS,
      run: async () => {
        for (let id = 0; id < CALLS; id++)
          await runtime.execute([{ toolCallId: `c${id}`, name: 'read', args: { path } }]);
        exporter.reset();
      },
    };
  };
  const NONE = 'without @ethosagent/otel';
  try {
    await sideBySide(`Telemetry: ${CALLS} calls that read a file`, [
      await contender(NONE, []),
      {
        ...(await contender('off: no provider', [createTelemetry().sink])),
        goal: { atMost: 1.05, of: NONE },
      },
      await contender('on: spans and metrics, in memory', [
        createTelemetry({
          tracer: provider.getTracer('bench'),
          meter: meters.getMeter('bench'),
        }).sink,
      ]),
    ]);
  } finally {
    for (const runtime of runtimes) await runtime.close();
    await provider.shutdown();
    await meters.shutdown();
    rmSync(home, { recursive: true });
  }
}
