import type {
  AnyTool,
  ToolBatchContext,
  ToolContext,
  ToolRegistry,
  ToolResult,
} from '@ethosagent/types';

/** A batch context for tests. */
export function batchContext(overrides: Partial<ToolBatchContext> = {}): ToolBatchContext {
  return {
    sessionId: 'session-1',
    sessionKey: 'test:repo',
    platform: 'test',
    workingDir: '/project',
    currentTurn: 1,
    messageCount: 1,
    abortSignal: new AbortController().signal,
    emit: () => {},
    ...overrides,
  };
}

/** A tool without capabilities, unless `rest` says otherwise. */
export function makeTool(
  name: string,
  execute: (args: unknown, ctx: ToolContext) => unknown = () => ok('done'),
  rest: Partial<AnyTool> = {},
): AnyTool {
  return {
    name,
    description: `Test tool ${name}.`,
    schema: { type: 'object' },
    capabilities: {},
    // Hostile tools return values that their type does not allow.
    execute: untyped(execute),
    ...rest,
  };
}

export function ok(value: string): ToolResult {
  return { ok: true, value };
}

/** Runs one call, and returns its result. */
// biome-ignore lint/complexity/useMaxParams: what most tests call, the rarest last
export async function runOne(
  registry: ToolRegistry,
  name: string,
  args: unknown = {},
  ctx: Partial<ToolBatchContext> = {},
): Promise<ToolResult> {
  const results = await registry.executeParallel(
    [{ toolCallId: 'call-1', name, args }],
    batchContext(ctx),
  );
  const [first] = results;
  if (first === undefined) throw new Error('the registry gave no result');
  return first.result;
}

/** The value that is thrown or rejected. Fails if there is none. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('the promise did not reject');
}

/** Gives a value any type, as a caller in plain JavaScript does. */
export function untyped(value: unknown) {
  const box: object = { value };
  return Reflect.get(box, 'value');
}
