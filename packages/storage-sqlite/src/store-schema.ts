import type { Connection } from './driver/connection.js';

/** SQL, or a function for what SQL can't do. Runs in the transaction of the migration. */
export type Migration = string | ((db: Connection) => void);

/** The mark and the tables of a database file that is a store of a certain kind. */
export interface StoreSchema {
  /** The application id in the header of the file, which marks it as this kind of store. */
  applicationId: number;
  /**
   * Step n migrates a file from `user_version` n to n + 1. Steps are only added at the end. Older
   * code refuses a newer file by its version, so a step may change anything.
   */
  migrations: readonly Migration[];
}
