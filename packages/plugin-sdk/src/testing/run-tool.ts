import { assertDeclarations, DefaultToolRegistry } from '@ethosagent/core';
import type { AnyTool, AuditEvent, ToolContext, ToolResult } from '@ethosagent/types';
import type { ProcessAccess } from './fake-process.js';
import {
  createTestWorld,
  type TestObservations,
  type TestOptions,
  type TestWorld,
} from './test-world.js';

export interface ToolRun extends TestObservations {
  result: ToolResult;
  /** Every access of the call, allowed or denied. */
  readonly audit: readonly AuditEvent[];
}

/**
 * Runs a tool as if a model called it: through the real registry, with its gates, validation,
 * budget and redaction, over backends in memory. `scopedProcess` starts nothing.
 *
 * @param tool the tool to run
 * @param args the arguments, as a model would send them
 * @param options files, secrets, answers of hosts, a clock and other data behind the accessors
 * @returns the result, and records of what the tool did
 * @throws `TOOL_INVALID` for a tool that a runtime refuses
 * @throws `CONFIG_INVALID` for an option that does not exist
 *
 * @example
 * ```ts
 * const { result } = await runTool(countWords, { path: '/notes.txt' }, {
 *   files: { '/notes.txt': 'one two' },
 * });
 * ```
 */
export async function runTool(
  tool: AnyTool,
  args: unknown,
  options: TestOptions = {},
): Promise<ToolRun> {
  assertDeclarations([tool]);
  const world = createTestWorld(tool.capabilities, options);
  const { backends, batchContext, processOf: _, keepOpen: __, ...observations } = world;
  const { now } = options;
  const registry = new DefaultToolRegistry(backends, undefined, now && { now });
  registry.register(withFakeProcess(tool, options, world));
  const [answer] = await registry.executeParallel(
    [{ toolCallId: 'test-call', name: tool.name, args }],
    batchContext,
    undefined,
    undefined,
    options.attachments,
  );
  if (answer === undefined) throw new Error('the registry answered nothing');
  return { result: answer.result, ...observations };
}

// The registry has no backend for processes. So the tool's accessor is replaced by the fake.
function withFakeProcess(tool: AnyTool, options: TestOptions, world: TestWorld): AnyTool {
  const { processOf, keepOpen, audit } = world;
  if (processOf === undefined && tool.capabilities.service === undefined) return tool;
  const { input } = tool;
  const overlay = (ctx: ToolContext): ToolContext => {
    const onAccess = (access: ProcessAccess) =>
      void audit.push({
        time: new Date(options.now?.() ?? Date.now()).toISOString(),
        sessionId: ctx.sessionId,
        ...(ctx.personalityId !== undefined && { personalityId: ctx.personalityId }),
        toolName: tool.name,
        toolCallId: 'test-call',
        capability: 'process',
        ...access,
      });
    const { services } = ctx;
    return {
      ...ctx,
      ...(processOf !== undefined && { scopedProcess: processOf(ctx, onAccess) }),
      ...(services !== undefined && {
        services: { open: async () => keepOpen(await services.open(), onAccess) },
      }),
    };
  };
  return {
    ...tool,
    execute: (args, ctx) => tool.execute(args, overlay(ctx)),
    ...(input !== undefined && {
      input: { ...input, run: (args, ctx) => input.run(args, overlay(ctx)) },
    }),
  };
}
