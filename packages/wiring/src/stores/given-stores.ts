import { EthosError } from '@ethosagent/types';
import type { ToolRuntimeOptions } from '../runtime-api.js';
import type { RuntimeStores } from './runtime-stores.js';
import { assertStoreNames } from './store-shapes.js';

/** The stores that a host gave, under any of their names. @throws `CONFIG_INVALID` */
export function givenStores({
  stores = {},
  secrets,
  memory,
  sessions,
}: Pick<ToolRuntimeOptions, 'stores' | 'secrets' | 'memory' | 'sessions'>): RuntimeStores {
  assertStoreNames(stores);
  if (secrets !== undefined && typeof secrets !== 'function') {
    const problem = 'secrets is a function from a ref to its value; give a store as stores.secrets';
    throw new EthosError('CONFIG_INVALID', problem);
  }
  const short: RuntimeStores = {
    ...(secrets !== undefined && { secrets: { get: secrets } }),
    ...(memory !== undefined && { memory }),
    ...(sessions !== undefined && { sessions }),
  };
  const twice = Object.entries(short).find(([name]) =>
    Object.entries(stores).some(([other, store]) => other === name && store !== undefined),
  );
  if (twice === undefined) return { ...stores, ...short };
  const problem = `${twice[0]} and stores.${twice[0]} are both given; give one of them`;
  throw new EthosError('CONFIG_INVALID', problem);
}
