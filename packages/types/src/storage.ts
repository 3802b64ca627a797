/** A child of a directory. */
export interface StorageEntry {
  name: string;
  isDir: boolean;
}

/** The reach that a contained view is held to. All paths are absolute. */
export interface ContainedReach {
  /** Files and folders that may be read, with all below them. */
  read: readonly string[];
  /** Files and folders that may be written, with all below them. */
  write: readonly string[];
  /** Files and folders that may be neither read nor written, whatever the other two say. */
  deny?: readonly string[];
  /** Where roots lead, by root, if this was looked up before. Other roots are looked up now. */
  leads?: Readonly<Record<string, string>>;
}

/** Options of an operation that changes something. */
export interface StorageChange {
  /**
   * Called once it is certain that the change is within reach, and before anything is changed. If
   * this throws, nothing is changed, and the caller gets what was thrown.
   */
  beforeChange?: () => void;
}

/** Files and folders by absolute path. */
export interface Storage {
  /** UTF-8 text, or `null` when there is no file. */
  read(path: string): Promise<string | null>;
  /** The bytes, or `null` when there is no file. */
  readBytes(path: string): Promise<Uint8Array | null>;
  /** Replaces the file atomically and durably; creates missing folders. */
  write(
    path: string,
    content: string | Uint8Array,
    opts?: StorageChange & { mode?: number },
  ): Promise<void>;
  /**
   * Adds to the end of a file, which is made where it is missing. A reader may see a part of the
   * text that is being added. In a storage without this method, a file is read and written as a
   * whole.
   */
  append?(
    path: string,
    content: string | Uint8Array,
    opts?: StorageChange & { mode?: number },
  ): Promise<void>;
  /** Whether there is a file or a folder. */
  exists(path: string): Promise<boolean>;
  /** Names of the children in code point order; empty when there is no such directory. */
  list(path: string): Promise<string[]>;
  /** The children, each with whether it is a folder. Empty when there is no such directory. */
  listEntries(path: string): Promise<StorageEntry[]>;
  /** Milliseconds since the epoch, or `null` when there is nothing at the path. */
  mtime(path: string): Promise<number | null>;
  /** Creates a folder and its missing parents; nothing happens when it exists. */
  mkdir(path: string, opts?: StorageChange & { mode?: number }): Promise<void>;
  /** Removes a file, or with `recursive` a folder; nothing happens when it is absent. */
  remove(path: string, opts?: StorageChange & { recursive?: boolean }): Promise<void>;
  /** Moves a file or folder, replacing a file at `to`; creates missing folders of `to`. */
  rename(from: string, to: string, opts?: StorageChange): Promise<void>;
  /**
   * A view of this storage that stays inside `reach`, whatever links there are and however they
   * change meanwhile. Denials are `BoundaryError`s. A storage that can't promise this has no such
   * method.
   */
  contained?(reach: ContainedReach): Storage;
}
