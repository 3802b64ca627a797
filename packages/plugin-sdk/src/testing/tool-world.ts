import {
  type CapabilityBackends,
  createInMemoryKvStore,
  createInMemoryMemory,
  createInMemorySessionStore,
  DefaultToolRegistry,
  MemoryAuditSink,
  type ToolRegistryOptions,
} from '@ethosagent/core';
import type { AnyTool, ToolBatchContext, ToolProgressEvent, ToolResult } from '@ethosagent/types';
import { createInMemoryStorage } from './in-memory-storage.js';
import { createRecordingEmitter } from './recording-emitter.js';

export interface ToolWorldOptions {
  /** Registered at the start; others may follow through `registry`. */
  tools?: readonly AnyTool[];
  /** Instead of those in memory; what reaches the network or starts processes has no default. */
  backends?: Partial<CapabilityBackends>;
  /** What the personality sets, by tool or by the key that a tool's settings have. */
  settings?: Readonly<Record<string, unknown>>;
  /** Fields of each call's context, e.g. `workingDir`, `personalityId`. */
  context?: Partial<ToolBatchContext>;
  /** Options of the registry. */
  registry?: ToolRegistryOptions;
}

/** Tools in a real registry, and what they did. */
export interface ToolWorld {
  readonly registry: DefaultToolRegistry;
  /** Every access, allowed or denied, in `audit.events`. */
  readonly audit: MemoryAuditSink;
  /** What the tools emitted. */
  readonly events: readonly ToolProgressEvent[];
  /** One call, in a batch of its own. The arguments are `{}` when absent. */
  run(name: string, args?: unknown, ctx?: Partial<ToolBatchContext>): Promise<ToolResult>;
  /** One batch; the results are in the order of the calls. */
  runAll(
    calls: readonly (readonly [name: string, args: unknown])[],
    ctx?: Partial<ToolBatchContext>,
  ): Promise<ToolResult[]>;
}

/**
 * Tools that work together, in one real registry that outlives a call: for tests of several calls,
 * tools or sessions. Where a test needs only one call, `runTool` is shorter.
 *
 * @param options what is registered, and what stands behind it
 * @returns the registry, and what the tools do
 */
export function createToolWorld(options: ToolWorldOptions = {}): ToolWorld {
  const { settings } = options;
  const audit = new MemoryAuditSink();
  const { events, emit } = createRecordingEmitter();
  const registry = new DefaultToolRegistry(
    {
      kvStoreFactory: createInMemoryKvStore().kvStoreFactory,
      storage: createInMemoryStorage(),
      memory: createInMemoryMemory(),
      sessions: createInMemorySessionStore(),
      ...(settings !== undefined && { personalityToolSettings: (_, key) => settings[key] }),
      audit,
      ...options.backends,
    },
    undefined,
    options.registry,
  );
  registry.registerAll(options.tools ?? []);
  const runAll: ToolWorld['runAll'] = async (calls, ctx = {}) => {
    const answers = await registry.executeParallel(
      calls.map(([name, args], at) => ({ toolCallId: `c${at}`, name, args })),
      {
        sessionId: 's',
        sessionKey: 'test:s',
        platform: 'test',
        workingDir: '/',
        currentTurn: 1,
        messageCount: 1,
        abortSignal: new AbortController().signal,
        emit,
        ...options.context,
        ...ctx,
      },
    );
    return answers.map(({ result }) => result);
  };
  return {
    registry,
    audit,
    events,
    runAll,
    async run(name, args = {}, ctx) {
      const [result] = await runAll([[name, args]], ctx);
      if (result === undefined) throw new Error('the registry answered nothing');
      return result;
    },
  };
}
