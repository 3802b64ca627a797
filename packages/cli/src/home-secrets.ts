import { join } from 'node:path';
import { createFileSecrets, type FileSecrets } from '@ethosagent/storage-fs';
import { errorCodeOf, type SecretStore, type StoreOpener } from '@ethosagent/types';
import { usageError } from './cli-error.js';
import type { CommandContext } from './command-context.js';

/**
 * The secrets of the agent: those of its store, where they can be managed there, or of the home.
 * @throws `CONFIG_INVALID` where the agent keeps its secrets elsewhere
 */
export async function homeSecrets(context: CommandContext): Promise<FileSecrets> {
  const { secrets, stores } = await context.config();
  if (secrets === undefined && stores?.secrets === undefined) {
    return createFileSecrets({ dir: join(context.home, 'secrets') });
  }
  const store = stores?.secrets && (await opened(context, stores.secrets));
  const managed = store && managedSecrets(store);
  if (managed !== undefined) return managed;
  throw usageError('ethos.config keeps secrets in a store of its own; use what manages that store');
}

async function opened(
  context: CommandContext,
  source: SecretStore | StoreOpener<SecretStore>,
): Promise<SecretStore> {
  if (!('open' in source)) return source;
  const { store, close } = await source.open();
  context.closeLater({ close: async () => close?.() });
  return store;
}

function managedSecrets(store: SecretStore): FileSecrets | undefined {
  if (store.set === undefined || store.delete === undefined || store.list === undefined) {
    return undefined;
  }
  const { set, delete: remove, list } = store;
  return {
    get: (ref) => store.get(ref),
    async has(ref) {
      try {
        await store.get(ref);
        return true;
      } catch (error) {
        if (errorCodeOf(error) === 'SECRET_NOT_FOUND') return false;
        throw error;
      }
    },
    set: (ref, value) => set.call(store, ref, value),
    delete: (ref) => remove.call(store, ref),
    list: () => list.call(store),
  };
}
