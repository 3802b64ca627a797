import {
  type CapabilityBackends,
  DefaultToolRegistry,
  resolveCapabilities,
} from '@ethosagent/core';
import { ScopedAttachmentsImpl } from '@ethosagent/core/scoped';
import {
  type AnyTool,
  EthosError,
  type ServiceScope,
  type ToolBatchContext,
  type ToolCapabilities,
  type ToolContext,
} from '@ethosagent/types';
import { createTestWorld, type TestObservations, type TestOptions } from './test-world.js';

export interface TestContext extends TestObservations {
  /** The context, with the accessors that were declared and no others. */
  ctx: ToolContext;
}

/**
 * Creates a context for calling a tool directly, over backends in memory. The accessors are the
 * real ones, which deny what was not declared. Only `scopedProcess` is a fake, which starts
 * nothing.
 *
 * @param target the tool, or capabilities
 * @param options the files, secrets, answers and other data behind the accessors
 * @returns the context, and records of what the tool does with it
 * @throws `CONFIG_INVALID` for an option that does not exist, or `settings` that the tool refuses
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
    processOf,
    keepOpen,
    audit: _,
    ...observations
  } = createTestWorld(capabilities, options);
  const { storage: _storage, ...context } = batchContext;
  const ctx: ToolContext = {
    resultBudgetChars: 80_000,
    ...context,
    ...resolveCapabilities(name, capabilities, context, backends),
  };
  if (processOf !== undefined) ctx.scopedProcess = processOf(ctx);
  if (capabilities.service !== undefined) {
    ctx.services = {
      open: async () => keepOpen(await openService(name, capabilities, { backends, context })),
    };
  }
  if (capabilities.attachments !== undefined) {
    ctx.attachments = new ScopedAttachmentsImpl(
      options.attachments ?? [],
      capabilities.attachments,
    );
  }
  if ('execute' in target && target.settings !== undefined) {
    const parsed = target.settings.parse(options.settings ?? {});
    if (!parsed.ok) {
      const [issue] = parsed.issues;
      throw new EthosError(
        'CONFIG_INVALID',
        `${['settings', ...(issue?.path ?? [])].join('.')}: ${issue?.message ?? 'wrong'}`,
      );
    }
    ctx.settings = parsed.settings;
  }
  return { ctx, ...observations };
}

/** Opens a service as a call of the tool would. */
async function openService(
  name: string,
  capabilities: ToolCapabilities,
  { backends, context }: { backends: CapabilityBackends; context: ToolBatchContext },
): Promise<ServiceScope> {
  const registry = new DefaultToolRegistry(backends);
  let opened: Promise<ServiceScope> | undefined;
  registry.register({
    name,
    description: '',
    schema: {},
    capabilities,
    async execute(_args, { services }) {
      opened = services?.open();
      await opened;
      return { ok: true, value: '' };
    },
  });
  const [answer] = await registry.executeParallel([{ toolCallId: '', name, args: {} }], {
    ...context,
    abortSignal: new AbortController().signal,
  });
  if (opened !== undefined) return opened;
  throw new EthosError('CALL_ENDED', answer?.result.ok === false ? answer.result.error : name);
}
