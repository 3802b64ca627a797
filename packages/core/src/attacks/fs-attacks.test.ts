import { fsAttacks } from '@ethosagent/conformance/attacks';
import { ForwardingStorage } from '@ethosagent/policy';
import { isLongRun } from '@ethosagent/test-support';
import { DefaultToolRegistry } from '../tool-registry.js';

fsAttacks('DefaultToolRegistry', (backends) => new DefaultToolRegistry(backends));

// A storage without a contained view is held as `ScopedStorage` holds one, which is attacked beside it.
if (isLongRun()) {
  fsAttacks(
    'DefaultToolRegistry over a storage without a contained view',
    (backends) => new DefaultToolRegistry(backends),
    { seesRaces: false, seesHardLinks: false, wrap: (storage) => new ForwardingStorage(storage) },
  );
}
