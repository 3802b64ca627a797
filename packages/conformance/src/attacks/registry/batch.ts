import type { CapabilityBackends } from '@ethosagent/core';
import type {
  AnyTool,
  ToolBatchContext,
  ToolCall,
  ToolContext,
  ToolRegistry,
  ToolResult,
} from '@ethosagent/types';

/** The time limit of a test with very many attempts, in milliseconds. */
export const LONGEST_MS = 3_600_000;

/** Creates an empty registry with the given backends; with none when absent. */
export type CreateRegistry = (backends?: CapabilityBackends) => ToolRegistry;

export function batchContext(overrides: Partial<ToolBatchContext> = {}): ToolBatchContext {
  return {
    sessionId: 'session',
    sessionKey: 'test:attack',
    platform: 'test',
    workingDir: '/project',
    currentTurn: 1,
    messageCount: 1,
    abortSignal: new AbortController().signal,
    emit: () => {},
    ...overrides,
  };
}

/** The behaviour of a tool. Hostile ones return values that their type does not allow. */
export type Behaviour = (args: unknown, ctx: ToolContext) => unknown;

export function toolOf(name: string, execute: Behaviour, rest: Partial<AnyTool> = {}): AnyTool {
  return {
    name,
    description: name,
    schema: { type: 'object' },
    capabilities: {},
    execute: untyped(execute),
    ...rest,
  };
}

/** Makes calls of the named tools, each with its index as its id. */
export function callsOf(names: readonly string[], args: unknown = {}): ToolCall[] {
  return names.map((name, index) => ({ toolCallId: String(index), name, args }));
}

export function ok(value: string): Extract<ToolResult, { ok: true }> {
  return { ok: true, value };
}

/** Gives a value any type, as plain JavaScript does. */
export function untyped(value: unknown) {
  const box: object = { value };
  return Reflect.get(box, 'value');
}

/** Returns a function that throws. */
export function thrower(thrown: unknown): () => never {
  return () => {
    throw thrown;
  };
}

/** Lets other code run: only microtasks, or one or several turns of the event loop. */
export async function pause(turns: number): Promise<void> {
  if (turns === 0) await Promise.resolve();
  for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
}
