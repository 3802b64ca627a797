import type { RuntimeStores } from '@ethosagent/wiring';
import type { CliConfig } from './cli-config.js';
import { usageError } from './cli-error.js';
import type { CliIo } from './cli-io.js';

/**
 * The stores of the database that the option or `ETHOS_STORES` names. `ETHOS_STORES_KEY` encrypts
 * its secrets.
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
    throw usageError('the URL of the stores is empty; give that of a database');
  }
  const { storesAt } = await import('@ethosagent/wiring/stores');
  const key = env.ETHOS_STORES_KEY;
  return storesAt(url, key === undefined || key === '' ? {} : { secretsKey: key });
}

/** A configuration whose stores are replaced by those of a database. */
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
