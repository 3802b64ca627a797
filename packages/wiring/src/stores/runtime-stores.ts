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
 * A store, which stays open when the runtime closes. Or an opener: the runtime opens its store before
 * `createToolRuntime` resolves, asks it for problems, and closes it. If it can't be opened,
 * `createToolRuntime` rejects.
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

/** Where a runtime keeps its state. What is absent is kept in the home. */
export interface RuntimeStores {
  /** Of tools, and what MCP tools were when they were first seen. `<home>/state.sqlite`. */
  keyValue?: StoreSource<KeyValueStoreFactory>;
  /** The files that tools read and write. The disk. */
  storage?: StoreSource<Storage>;
  /** `<home>/attachments`. */
  attachments?: StoreSource<AttachmentStore>;
  /** Markdown files of the home. */
  memory?: StoreSource<MemoryProvider>;
  /** Messages, turns and approvals that wait. `<home>/sessions.sqlite`. */
  sessions?: StoreSource<SessionStore>;
  /**
   * Secrets, and the tokens of MCP servers where it has `set` and `delete`; without them, tokens are
   * in `<home>/secrets`. `<home>/secrets`.
   */
  secrets?: StoreSource<SecretStore>;
}
