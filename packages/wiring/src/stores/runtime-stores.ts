import type {
  AttachmentStore,
  KeyValueStoreFactory,
  MemoryProvider,
  SecretStore,
  SessionStore,
  Storage,
  StoreOpener,
} from '@ethosagent/types';

/**
 * A store, or a function that opens one. The runtime opens the store before `createToolRuntime`
 * resolves, asks it for problems, and closes it. If the store can't be opened, `createToolRuntime`
 * rejects. A store that was passed open stays open when the runtime closes.
 */
export type StoreSource<T> = T | StoreOpener<T>;

/** The stores by their names. */
export interface StoresByName {
  keyValue: KeyValueStoreFactory;
  storage: Storage;
  attachments: AttachmentStore;
  memory: MemoryProvider;
  sessions: SessionStore;
  secrets: SecretStore;
}

/** The stores of a runtime. A store that is absent is in the home. */
export interface RuntimeStores {
  /**
   * The entries of tools, and each MCP tool as it was first seen. `<home>/state.sqlite` when
   * absent.
   */
  keyValue?: StoreSource<KeyValueStoreFactory>;
  /** The files that tools read and write. The disk when absent. */
  storage?: StoreSource<Storage>;
  /** The attachments. `<home>/attachments` when absent. */
  attachments?: StoreSource<AttachmentStore>;
  /** The memories. Markdown files in the home when absent. */
  memory?: StoreSource<MemoryProvider>;
  /** Messages, turns and waiting approvals. `<home>/sessions.sqlite` when absent. */
  sessions?: StoreSource<SessionStore>;
  /**
   * The secrets. `<home>/secrets` when absent. A store with `set` and `delete` also gets the tokens
   * of MCP servers; otherwise they are in `<home>/secrets`.
   */
  secrets?: StoreSource<SecretStore>;
}
