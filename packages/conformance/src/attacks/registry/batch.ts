import type { CapabilityBackends } from '@ethosagent/core';
import type {
  AnyTool,
  ToolBatchContext,
  ToolCall,
  ToolContext,
  ToolRegistry,
  ToolResult,
} from '@ethosagent/types';

/** How long a test may take that is tried very often. */
export const LONGEST_MS = 3_600_000;

/** Makes an empty registry over these backends. */
export type CreateRegistry = (backends?: CapabilityBackends) => ToolRegistry;

/** A batch context. */
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

/** What a tool does; hostile ones return what no type allows. */
export type Behaviour = (args: unknown, ctx: ToolContext) => unknown;

/** A tool of this name. */
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

/** Calls of the tools of these names, each with its index as id. */
export function callsOf(names: readonly string[], args: unknown = {}): ToolCall[] {
  return names.map((name, index) => ({ toolCallId: String(index), name, args }));
}

/** A success. */
export function ok(value: string): Extract<ToolResult, { ok: true }> {
  return { ok: true, value };
}

/** A value that passes for whatever type is asked for, as it does where there are no types. */
export function untyped(value: unknown) {
  const box: object = { value };
  return Reflect.get(box, 'value');
}

/** A function that throws. */
export function thrower(thrown: unknown): () => never {
  return () => {
    throw thrown;
  };
}

/** Lets others run: microtasks only, or once or several times around the event loop. */
export async function pause(turns: number): Promise<void> {
  if (turns === 0) await Promise.resolve();
  for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
}
