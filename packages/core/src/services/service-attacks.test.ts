import {
  fetchAttacks,
  fsAttacks,
  processAttacks,
  secretAttacks,
} from '@ethosagent/conformance/attacks';
import { FsStorage } from '@ethosagent/storage-fs';
import { isLongRun } from '@ethosagent/test-support';
import { describe } from 'vitest';
import { ServiceRegistry } from '../testing/through-services.js';
import { DefaultToolRegistry } from '../tool-registry.js';

// Only in a long run: the same function makes the accessors of services and of calls, and those of
// calls are attacked in every run.
describe.runIf(isLongRun())('the accessors of a service', () => {
  secretAttacks('service.secretsResolver', (backends) => new ServiceRegistry(backends));

  fsAttacks('service.scopedFs', (backends) => new ServiceRegistry(backends));

  fetchAttacks('service.scopedFetch', async ({ allowedHosts, policy, lookup }) => {
    const { allow, ...turn } = policy;
    const registry = new DefaultToolRegistry({
      lookup,
      personalityNetworkPolicy: turn,
      ...(allow !== undefined && { personalityNetworkAllow: allow }),
    });
    const service = await registry.openService(
      { name: 'attacked', capabilities: { network: { allowedHosts } } },
      {},
    );
    if (service.scopedFetch === undefined) throw new Error('the service has no scopedFetch');
    return { scopedFetch: service.scopedFetch, close: () => registry.endServices() };
  });

  processAttacks('service.scopedProcess', ({ read, write, deny, limits }) => {
    const registry = new DefaultToolRegistry({
      storage: new FsStorage(),
      personalityFsReach: { read, write, deny },
      ...(limits !== undefined && { personalityProcess: { limits } }),
    });
    const hasFiles = read.length + write.length > 0;
    const opening = registry.openService(
      {
        name: 'attacked',
        capabilities: {
          process: { allowedBinaries: ['*'] },
          ...(hasFiles && { fs_reach: { read, write } }),
        },
      },
      { sessionId: 's' },
    );
    const end = async () => (await opening).end();
    return {
      process: {
        async spawn(binary, args, opts) {
          const { scopedProcess } = await opening;
          if (scopedProcess === undefined) throw new Error('the service has no scopedProcess');
          return scopedProcess.spawn(binary, args, opts);
        },
      },
      abort: () => void end(),
      end: () => void end(),
    };
  });
});
