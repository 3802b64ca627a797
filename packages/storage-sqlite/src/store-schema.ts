import type { Connection } from './driver/connection.js';

/** SQL, or what the program itself has to do. It runs in the transaction of the migration. */
export type Migration = string | ((db: Connection) => void);

/** What makes a database file a store of one kind. */
export interface StoreSchema {
  /** Marks the file, in its header, as a store of this kind. */
  applicationId: number;
  /**
   * Step n takes a file from `user_version` n to n + 1. Only ever appended to. A newer file is
   * refused by its version, so a step may change anything.
   */
  migrations: readonly Migration[];
}
