import type { RuntimeStores } from '@ethosagent/wiring';
import type { CliConfig } from './cli-config.js';
import { usageError } from './cli-error.js';
import type { CliIo } from './cli-io.js';

/**
 * The stores of the database that was named: the option, else `ETHOS_STORES`. `ETHOS_STORES_KEY`
 * encrypts the secrets in it.
 *
 * @throws `CONFIG_INVALID`
 */
export async function sharedStores(
  env: CliIo['env'],
  named: string | undefined,
): Promise<RuntimeStores | undefined> {
  const url = named ?? env.ETHOS_STORES;
  if (url === undefined || url === '') {
    if (named === undefined) return undefined;
    throw usageError('--stores is empty; give the URL of a database');
  }
  const { storesAt } = await import('@ethosagent/wiring/stores');
  const key = env.ETHOS_STORES_KEY;
  return storesAt(url, key === undefined || key === '' ? {} : { secretsKey: key });
}

/** A configuration with the stores of a database instead of its own. */
export function withStores(config: CliConfig, shared: RuntimeStores | undefined): CliConfig {
  if (shared === undefined) return config;
  const { secrets, memory, sessions, stores, ...rest } = config;
  return {
    ...rest,
    ...(secrets !== undefined && shared.secrets === undefined && { secrets }),
    ...(memory !== undefined && shared.memory === undefined && { memory }),
    ...(sessions !== undefined && shared.sessions === undefined && { sessions }),
    stores: { ...stores, ...shared },
  };
}
