import type { NetworkPolicy } from '@ethosagent/types';
import { describe, expect, it } from 'vitest';
import { servicesOf } from '../testing/open-services.js';

const CAPABILITIES = {
  network: { allowedHosts: ['*'] },
  process: { allowedBinaries: ['sh'] },
  fs_reach: { read: 'from-personality' as const },
};

describe('isCurrent', () => {
  const policies: [policy: NetworkPolicy | undefined, isCurrent: boolean][] = [
    [{ allow: ['a.test'] }, true],
    [{ allow: ['a.test', 'b.test'] }, false],
    [{ allow: [] }, false],
    [{ allow: ['a.test'], deny: ['x.a.test'] }, false],
    [{ allow: ['a.test'], allow_private_urls: true }, false],
    [undefined, false],
  ];
  it.each(policies)('of a service opened for a.test, under %j: %s', async (policy, isCurrent) => {
    const { open } = servicesOf({
      personalityNetworkAllow: ['*'],
      personalityNetworkPolicy: { allow: ['a.test'] },
    });
    const service = await open(CAPABILITIES);
    expect(service.isCurrent(policy === undefined ? {} : { networkPolicy: policy })).toBe(
      isCurrent,
    );
    await service.end();
    expect(service.isCurrent({ networkPolicy: { allow: ['a.test'] } })).toBe(false);
  });

  it.each(['network', 'files', 'processes', 'quotas', 'a fault'])(
    'is no longer when the %s of the personality change',
    async (what) => {
      const argumentsOf: { sh?: { deny: string[] } } = {};
      let isChanged = false;
      const { open } = servicesOf({
        personalityNetworkAllow: () => (isChanged && what === 'network' ? [] : ['a.test']),
        personalityFsReach: () => {
          if (isChanged && what === 'a fault') throw new Error('no personality');
          return { read: isChanged && what === 'files' ? [] : ['/nowhere'], write: [] };
        },
        personalityProcess: () => ({ arguments: argumentsOf }),
        personalityQuotas: () =>
          isChanged && what === 'quotas' ? { per_session: { requests: 1 } } : undefined,
      });
      const service = await open(CAPABILITIES);
      expect(service.isCurrent({})).toBe(true);
      isChanged = true;
      if (what === 'processes') argumentsOf.sh = { deny: ['-c'] };
      expect(service.isCurrent({})).toBe(false);
    },
  );
});
