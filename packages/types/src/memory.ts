/** Which memory a tool means. The framework knows the id of that memory for the call. */
export type MemoryScope = 'personality' | 'global' | 'user' | 'team';

/** A part of a memory, under a heading of its own. */
export interface MemorySection {
  /** `''` for the text before the first heading. Unique in a document; case does not count. */
  heading: string;
  /** Its lines end in `\n`, and no blank lines are around it. */
  text: string;
}

/** A memory as it is now. */
export interface MemoryDocument {
  sections: readonly MemorySection[];
  /** Changes with every change of the content, also with one from outside. */
  revision: string;
  /** Characters of all headings and texts. */
  sizeChars: number;
}

/** One change of a memory. */
export type MemoryChange =
  /** Appends a paragraph to a section, which is made where it is missing. */
  | { kind: 'add'; section: string; text: string }
  /** Replaces a whole section, or with `match` the one place that has this text. */
  | { kind: 'replace'; section?: string; match?: string; text: string }
  /** Removes a whole section, or with `match` the one place that has this text. */
  | { kind: 'remove'; section?: string; match?: string };

/** An earlier state of a memory. */
export interface MemoryVersion {
  revision: string;
  /** Milliseconds since the epoch: when it was replaced. */
  replacedAt: number;
  sections: readonly MemorySection[];
}

/** A section that a search found. */
export interface MemoryMatch {
  heading: string;
  /** A part of the text around what was found. */
  snippet: string;
}

/**
 * Where memories are kept, by the id of their scope: `global`, `personality:<id>`, `user:<id>`,
 * `team:<id>`, or an opaque id of the host's. Ids are data: no id reaches another's memory.
 */
export interface MemoryProvider {
  /** The memory; without sections when there is none yet. */
  read(scopeId: string): Promise<MemoryDocument>;
  /**
   * Makes one change, atomically, and keeps the version that it replaces.
   *
   * @param opts `expectedRevision`: the change is refused when the memory has another revision
   * @returns the memory after the change
   * @throws `MEMORY_NOT_FOUND` for a section or a match that isn't there, `MEMORY_AMBIGUOUS` for a
   * match in several places, `MEMORY_TOO_LARGE`, `MEMORY_CHANGED` for another revision,
   * `VALUE_INVALID` for a change with neither section nor match, a heading of several lines,
   * or a text that the provider can't keep apart from the sections around it, `KEY_INVALID` for an
   * id that is not well-formed, `STORE_UNAVAILABLE`
   */
  change(
    scopeId: string,
    change: MemoryChange,
    opts?: { expectedRevision?: string },
  ): Promise<MemoryDocument>;
  /**
   * Finds sections: first those that have all the words of the query, the best first, then those
   * that have some of them. The query is written as in `SessionStore.search`.
   *
   * @throws `VALUE_INVALID` for an invalid option, or a query that is not a string
   */
  search(scopeId: string, query: string, opts?: { limit?: number }): Promise<MemoryMatch[]>;
  /** The versions that were replaced, the newest first; a provider keeps a bounded number. */
  versions(scopeId: string, opts?: { limit?: number }): Promise<MemoryVersion[]>;
}

/**
 * Memories, held to the scopes of the call. Without `scope` the call's own is meant: the
 * `memoryScopeId` of the context if there is one, else `global` or the personality's, as its
 * `memoryScope` says.
 */
export interface ScopedMemory {
  /** The scopes that this call has. */
  readonly scopes: readonly MemoryScope[];
  /** Set to `global` where the call's own memory is the global one, as `memoryScope` may say. */
  readonly ownIs?: MemoryScope;
  /** @throws `MEMORY_SCOPE_NOT_AVAILABLE` */
  read(scope?: MemoryScope): Promise<MemoryDocument>;
  /** @throws `MEMORY_SCOPE_NOT_AVAILABLE` */
  search(query: string, opts?: { scope?: MemoryScope; limit?: number }): Promise<MemoryMatch[]>;
  /** @throws `MEMORY_SCOPE_NOT_AVAILABLE` */
  versions(opts?: { scope?: MemoryScope; limit?: number }): Promise<MemoryVersion[]>;
  /**
   * @throws `MEMORY_NOT_WRITABLE` for a tool that declares `read` only,
   * `MEMORY_SCOPE_NOT_AVAILABLE`, `MEMORY_NOT_FOUND`, `MEMORY_AMBIGUOUS`, `MEMORY_TOO_LARGE`,
   * `MEMORY_CHANGED`, `VALUE_INVALID`, `STORE_UNAVAILABLE`
   */
  change(
    change: MemoryChange,
    opts?: { scope?: MemoryScope; expectedRevision?: string },
  ): Promise<MemoryDocument>;
}
