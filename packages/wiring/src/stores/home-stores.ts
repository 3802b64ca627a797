import { join } from 'node:path';
import { createAttachmentCache, createHomeSecrets, FsStorage } from '@ethosagent/storage-fs';
import type { OpenedStore } from '@ethosagent/types';
import { createHomeMemory } from '../home-memory.js';
import { hostEnvironment } from '../host-environment.js';
import type { StoresByName } from './runtime-stores.js';

type HomeStores = {
  readonly [Name in keyof StoresByName]: (
    home: string,
  ) => OpenedStore<StoresByName[Name]> | Promise<OpenedStore<StoresByName[Name]>>;
};

/** The stores of a home. SQLite is loaded when one of its stores is opened. */
export const HOME_STORES: HomeStores = {
  async keyValue(home) {
    const { createSqliteKvStore } = await import('@ethosagent/storage-sqlite');
    const { kvStoreFactory, close } = createSqliteKvStore({ path: join(home, 'state.sqlite') });
    return { store: kvStoreFactory, close };
  },
  async sessions(home) {
    const { createSqliteSessionStore } = await import('@ethosagent/storage-sqlite');
    const store = createSqliteSessionStore({ path: join(home, 'sessions.sqlite') });
    return { store, close: store.close };
  },
  storage: () => ({ store: new FsStorage() }),
  attachments: (home) => ({ store: createAttachmentCache({ dir: join(home, 'attachments') }) }),
  memory: (home) => ({ store: createHomeMemory(home) }),
  secrets: (home) => ({ store: createHomeSecrets({ home, env: hostEnvironment() }) }),
};
