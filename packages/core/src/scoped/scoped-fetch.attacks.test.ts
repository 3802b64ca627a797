import { fetchAttacks } from '@ethosagent/conformance/attacks';
import type { ScopedFetch } from '@ethosagent/types';
import { batchContext, makeTool, ok } from '../testing/batch.js';
import { DefaultToolRegistry } from '../tool-registry.js';

fetchAttacks('ctx.scopedFetch', async ({ allowedHosts, policy, lookup }) => {
  const { allow, ...turn } = policy;
  const registry = new DefaultToolRegistry({
    lookup,
    ...(allow !== undefined && { personalityNetworkAllow: allow }),
  });
  let end = () => {};
  const untilClosed = new Promise<void>((resolve) => {
    end = resolve;
  });
  let give: (scopedFetch: ScopedFetch) => void = () => {};
  const given = new Promise<ScopedFetch>((resolve) => {
    give = resolve;
  });
  registry.register(
    makeTool(
      'tool',
      async (_args, ctx) => {
        if (ctx.scopedFetch) give(ctx.scopedFetch);
        await untilClosed;
        return ok('done');
      },
      { capabilities: { network: { allowedHosts } }, timeoutMs: 3_600_000 },
    ),
  );
  const batch = registry.executeParallel(
    [{ toolCallId: 'call', name: 'tool', args: {} }],
    batchContext({ networkPolicy: turn }),
  );
  return {
    scopedFetch: await given,
    async close() {
      end();
      await batch;
    },
  };
});
