/** What makes a database file a store of one kind. */
export interface StoreSchema {
  /** Marks the file, in its header, as a store of this kind. */
  applicationId: number;
  /**
   * Step n takes a file from `user_version` n to n + 1. Only ever appended to. A newer file is
   * refused by its version, so a step may change anything.
   */
  migrations: readonly string[];
}
