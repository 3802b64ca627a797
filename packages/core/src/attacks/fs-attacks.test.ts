import { fsAttacks } from '@ethosagent/conformance/attacks';
import { ForwardingStorage } from '@ethosagent/policy';
import { isLongRun } from '@ethosagent/test-support';
import { DefaultToolRegistry } from '../tool-registry.js';

fsAttacks('DefaultToolRegistry', (backends) => new DefaultToolRegistry(backends));

// Only in a long run: such a storage is limited in the same way as by `ScopedStorage`, which is
// attacked in its own test.
if (isLongRun()) {
  fsAttacks(
    'DefaultToolRegistry over a storage without a contained view',
    (backends) => new DefaultToolRegistry(backends),
    { seesRaces: false, seesHardLinks: false, wrap: (storage) => new ForwardingStorage(storage) },
  );
}
