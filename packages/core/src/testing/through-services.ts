import { type AnyTool, EthosError, type ServiceScope, type ToolContext } from '@ethosagent/types';
import type { CapabilityBackends } from '../backends.js';
import { DefaultToolRegistry } from '../tool-registry.js';

/** A registry whose tools use everything through a service that each call opens and ends. */
export class ServiceRegistry extends DefaultToolRegistry {
  constructor(backends: CapabilityBackends = {}) {
    const { audit } = backends;
    super(
      {
        ...backends,
        // The attacks expect only the accesses, not the opening of the service.
        ...(audit && {
          audit: {
            record: (event) => {
              if (event.capability !== 'service') audit.record(event);
            },
          },
        }),
      },
      undefined,
      { maxServices: 10_000 },
    );
  }

  override register(tool: AnyTool, opts?: { pluginId?: string }): void {
    const { execute } = tool;
    if (Object.keys(tool.capabilities ?? {}).length === 0) {
      super.register(tool, opts);
      return;
    }
    super.register(
      {
        ...tool,
        capabilities: { ...tool.capabilities, service: { scope: 'session' } },
        async execute(args, ctx) {
          const { services, ...rest } = ctx;
          if (services === undefined) throw new EthosError('TOOL_INVALID', 'no services');
          const service = await services.open();
          try {
            return await execute(args, throughService(rest, service));
          } finally {
            await service.end();
          }
        },
      },
      opts,
    );
  }
}

function throughService(ctx: ToolContext, service: ServiceScope): ToolContext {
  const { scopedFetch, scopedFs, scopedProcess, secretsResolver, kvStore } = service;
  return {
    ...ctx,
    ...(scopedFetch && { scopedFetch }),
    ...(scopedFs && { scopedFs }),
    ...(scopedProcess && { scopedProcess }),
    ...(secretsResolver && { secretsResolver }),
    ...(kvStore && { kvStore }),
  };
}
