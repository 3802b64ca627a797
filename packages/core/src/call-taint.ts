import { normalizePath, type ReadSource } from '@ethosagent/policy';
import { realPathOf } from '@ethosagent/process';
import type { StorageScope } from '@ethosagent/types';
import type { CallReads, SourceWatch } from './turn-host.js';

/** What the stores of a call or a service ask about text that an adversary may have written. */
export interface Taint {
  /** Whether what is written now may be such text. */
  taints(scope: StorageScope): boolean;
  /** Text was read that had been written with such text at hand. */
  noteRead(scope: StorageScope): void;
  /** Where the call's text comes from. Absent where nobody asks. */
  readonly sources?: SourceNotes | undefined;
}

/** What accessors tell of what a call reads, and ask before they write. */
export interface SourceNotes {
  /** One hop of a request. */
  noteUrl(url: string): void;
  /** Called before and after a file or folder is read: what it led to must be the same. */
  noteFile(path: string): void;
  /** Text that a call kept, and what that call had read by then; `undefined` where nobody knows. */
  noteKept(sources: readonly ReadSource[] | undefined): void;
  /** What the call has read so far; `undefined` where not all of it is known. */
  known(): readonly ReadSource[] | undefined;
  /**
   * Called before files or folders are changed, and waited for.
   * @param moved what goes to another of the paths, with all that is in it
   * @throws what keeps the change from being made
   */
  beforeWrite(paths: readonly string[], moved?: string): Promise<void> | undefined;
}

export interface CallTaintOptions {
  /** The session of the call has read such text. */
  session: boolean;
  /** The tool of the call returns such text. */
  output: boolean;
  /** Whether a service of the tool has already read such text. */
  hasServiceRead: () => boolean;
  /** The accessors see all that the tool reads. */
  isSeen: boolean;
  /** Whoever wants to know where text comes from. */
  watch: SourceWatch | undefined;
}

/** Sources of one call that are remembered. Of more, not all are known. */
const MAX_SOURCES = 500;

/**
 * Whether a call works with text that an adversary may have written.
 *
 * The invariant: doubt counts as taint. A source that can't be named, or one too many, ends `isWhole`, tainted
 * text sets `hasRead`, and nothing turns either back. A file is noted before it
 * is changed, so that a crash in between leaves a clean file that is marked, and never a tainted one that
 * is not.
 */
export class CallTaint implements Taint {
  readonly #options: CallTaintOptions;
  #hasRead = false;

  #sources: Map<string, ReadSource> | undefined;
  #isWhole = true;

  constructor(options: CallTaintOptions) {
    this.#options = options;
  }

  get sources(): SourceNotes | undefined {
    return this.#options.watch === undefined ? undefined : this;
  }

  /** What the call read; `undefined` where nobody wanted to know. */
  get reads(): CallReads | undefined {
    const { isSeen, watch } = this.#options;
    if (watch === undefined) return undefined;
    return { sources: this.#read, isWhole: isSeen && this.#isWhole };
  }

  noteUrl(url: string): void {
    this.#note({ kind: 'url', url });
  }

  noteFile(path: string): void {
    const named = normalizePath(path);
    // Where no file is trusted, it does not matter where links lead.
    const real = this.#options.watch?.trust.isEmpty === false ? realPathOf(named) : named;
    if (real === undefined) this.#isWhole = false;
    else this.#note({ kind: 'file', path: named, real });
  }

  noteKept(sources: readonly ReadSource[] | undefined): void {
    if (sources === undefined) this.#isWhole = false;
    for (const source of sources ?? []) this.#note(source);
  }

  known(): readonly ReadSource[] | undefined {
    const { reads } = this;
    return reads?.isWhole === true ? reads.sources : undefined;
  }

  beforeWrite(paths: readonly string[], moved?: string): Promise<void> | undefined {
    const { isSeen, session, watch } = this.#options;
    if (watch === undefined) return undefined;
    const places = [
      ...new Set(paths.flatMap((path) => [normalizePath(path), realPathOf(path) ?? []]).flat()),
    ];
    if (session || this.hasRead || !this.#isWhole) return watch.beforeWrite(places);
    // What its program or its service read, nobody saw.
    if (!isSeen) return watch.trustsTool ? undefined : watch.beforeWrite(places);
    const from = this.#broughtTo(places, moved);
    if (from.length === 0) return undefined;
    return from.every((source) => watch.trust.covers(source))
      ? this.#unlessClean(from, places, watch)
      : watch.beforeWrite(places);
  }

  /** What is in a trusted file may have been written by a session that had read something else. */
  async #unlessClean(
    from: readonly ReadSource[],
    places: readonly string[],
    watch: SourceWatch,
  ): Promise<void> {
    if (await watch.isWritten(from)) await watch.beforeWrite(places);
  }

  /** The same for what programs and services of the call may change, before it begins. */
  beforeUnseenWrite(places: readonly string[]): Promise<void> | undefined {
    return this.#taintsUnseen ? this.#options.watch?.beforeWrite(places) : undefined;
  }

  /** Whatever the tool says of its results: what a program writes need not be in them. */
  get #taintsUnseen(): boolean {
    const { session, watch } = this.#options;
    return session || this.hasRead || watch?.trustsTool !== true;
  }

  /** Where what is written may come from. What was in a place itself stays there, unless it is moved. */
  #broughtTo(places: readonly string[], moved: string | undefined): ReadSource[] {
    const read = this.#read.filter(
      (source) =>
        source.kind !== 'file' || !(places.includes(source.path) || places.includes(source.real)),
    );
    if (moved === undefined) return read;
    const path = normalizePath(moved);
    return [...read, { kind: 'file', path, real: realPathOf(path) ?? path }];
  }

  #note(source: ReadSource): void {
    const key = JSON.stringify(source);
    this.#sources ??= new Map();
    if (this.#sources.has(key)) return;
    if (this.#sources.size < MAX_SOURCES) this.#sources.set(key, source);
    else this.#isWhole = false;
  }

  get #read(): ReadSource[] {
    return [...(this.#sources?.values() ?? [])];
  }

  taints(scope: StorageScope): boolean {
    const { session, output } = this.#options;
    // Other tools read it too: what the tool's own results are marked by is not enough.
    const isShared = scope === 'personality';
    return session || this.hasRead || (isShared && output);
  }

  /** Whether it read text that an earlier call wrote with such text at hand. */
  get hasRead(): boolean {
    return this.#hasRead || this.#options.hasServiceRead();
  }

  noteRead(scope: StorageScope): void {
    // What a session knows to be tainted by may go on with notes of its own.
    if (scope === 'session' && this.#options.session) return;
    this.#hasRead = true;
  }
}
