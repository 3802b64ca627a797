import { resolveCapabilities } from '@ethosagent/core';
import { ScopedAttachmentsImpl } from '@ethosagent/core/scoped';
import type { AnyTool, ToolCapabilities, ToolContext } from '@ethosagent/types';
import { createFakeProcess } from './fake-process.js';
import { createTestWorld, type TestObservations, type TestOptions } from './test-world.js';

export interface TestContext extends TestObservations {
  /** The context, with the accessors that were declared and no others. */
  ctx: ToolContext;
}

/**
 * A context for calling a tool directly, over backends in memory. The accessors are the real ones,
 * so that they deny what was not declared, except for `scopedProcess`, which starts nothing.
 *
 * @param target the tool, or capabilities
 * @param options what stands behind the accessors
 */
export function createTestContext(
  target: AnyTool | ToolCapabilities,
  options: TestOptions = {},
): TestContext {
  const [name, capabilities] =
    'execute' in target ? [target.name, target.capabilities] : ['test_tool', target];
  const {
    backends,
    batchContext,
    audit: _,
    ...observations
  } = createTestWorld(capabilities, options);
  const { storage: _storage, ...context } = batchContext;
  const ctx: ToolContext = {
    resultBudgetChars: 80_000,
    ...context,
    ...resolveCapabilities(name, capabilities, context, backends),
  };
  if (capabilities.process !== undefined) {
    ctx.scopedProcess = createFakeProcess({
      allowedBinaries: capabilities.process.allowedBinaries,
      table: options.processes ?? {},
      spawned: observations.spawned,
    });
  }
  if (capabilities.attachments !== undefined) {
    ctx.attachments = new ScopedAttachmentsImpl(
      options.attachments ?? [],
      capabilities.attachments,
    );
  }
  return { ctx, ...observations };
}
