import { createHomeSecrets, type FileSecrets, type SecretPlace } from '@ethosagent/storage-fs';
import { errorCodeOf, type SecretStore, type StoreOpener } from '@ethosagent/types';
import { usageError } from './cli-error.js';
import type { CommandContext } from './command-context.js';

/** Where a secret of an agent is: in its home, or in the store that the agent uses for secrets. */
export type AgentSecretPlace = SecretPlace | 'store';

/** The secrets of an agent, as commands manage them. */
export interface AgentSecrets extends FileSecrets {
  /** The places where a secret can be. */
  readonly places: readonly AgentSecretPlace[];
  /** `undefined` if the secret does not exist. */
  placeOf(ref: string): Promise<AgentSecretPlace | undefined>;
  /** The place of a new secret. */
  newPlace(): Promise<AgentSecretPlace>;
  /** @param place one of `places`; if absent, the present place of the secret */
  set(ref: string, value: string, place?: AgentSecretPlace): Promise<void>;
}

/**
 * The secrets of the agent: those of its store if they can be managed there, otherwise those of the
 * home.
 * @throws `CONFIG_INVALID` if the agent keeps its secrets elsewhere
 */
export async function homeSecrets(context: CommandContext): Promise<AgentSecrets> {
  const { secrets, stores } = await context.config();
  if (secrets === undefined && stores?.secrets === undefined) {
    const home = createHomeSecrets({ home: context.home, env: context.io.env });
    return {
      ...home,
      places: ['file', 'keychain'],
      newPlace: async () => ((await home.hasKeychain()) ? 'keychain' : 'file'),
      set: (ref, value, place) => home.set(ref, value, place === 'store' ? undefined : place),
    };
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

function managedSecrets(store: SecretStore): AgentSecrets | undefined {
  const { set, delete: remove, list } = store;
  if (set === undefined || remove === undefined || list === undefined) return undefined;
  const has = async (ref: string) => {
    try {
      await store.get(ref);
      return true;
    } catch (error) {
      if (errorCodeOf(error) === 'SECRET_NOT_FOUND') return false;
      throw error;
    }
  };
  return {
    places: ['store'],
    placeOf: async (ref) => ((await has(ref)) ? 'store' : undefined),
    newPlace: async () => 'store',
    has,
    get: (ref) => store.get(ref),
    set: (ref, value) => set.call(store, ref, value),
    delete: (ref) => remove.call(store, ref),
    list: () => list.call(store),
  };
}
