import { fsAttacks } from '@ethosagent/conformance/attacks';
import { ForwardingStorage } from '@ethosagent/policy';
import { DefaultToolRegistry } from '../tool-registry.js';

fsAttacks('DefaultToolRegistry', (backends) => new DefaultToolRegistry(backends));

fsAttacks(
  'DefaultToolRegistry over a storage without a contained view',
  (backends) => new DefaultToolRegistry(backends),
  { seesRaces: false, seesHardLinks: false, wrap: (storage) => new ForwardingStorage(storage) },
);
