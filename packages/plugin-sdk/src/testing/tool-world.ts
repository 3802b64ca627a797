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
  /** The tools that are registered at the start. A test can register more in `registry`. */
  tools?: readonly AnyTool[];
  /**
   * Backends that replace those in memory. The backends for the network, for processes and for
   * secrets have no default.
   */
  backends?: Partial<CapabilityBackends>;
  /** The personality's settings, by the name of a tool or by the key of a tool's settings. */
  settings?: Readonly<Record<string, unknown>>;
  /** Fields of each call's context, e.g. `workingDir`, `personalityId`. */
  context?: Partial<ToolBatchContext>;
  /** Options of the tool registry. */
  registry?: ToolRegistryOptions;
}

/** Tools in a real registry, and records of what they did. */
export interface ToolWorld {
  readonly registry: DefaultToolRegistry;
  /** The sink that records every access, allowed or denied, in `audit.events`. */
  readonly audit: MemoryAuditSink;
  /** The events that the tools emitted, the oldest first. */
  readonly events: readonly ToolProgressEvent[];
  /**
   * Runs one call, in a batch of its own. `args` are `{}` when absent; `ctx` replaces fields of the
   * context.
   */
  run(name: string, args?: unknown, ctx?: Partial<ToolBatchContext>): Promise<ToolResult>;
  /** Runs one batch, and returns the results in the order of the calls. */
  runAll(
    calls: readonly (readonly [name: string, args: unknown])[],
    ctx?: Partial<ToolBatchContext>,
  ): Promise<ToolResult[]>;
}

/**
 * Creates a real registry with tools, for tests of several calls, tools or sessions. For a single
 * call, `runTool` is shorter.
 *
 * @param options the tools, the backends, and fields of the context
 * @returns the registry, and records of what the tools do
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
