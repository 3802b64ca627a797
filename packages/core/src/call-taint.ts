import { normalizePath, type ReadSource } from '@ethosagent/policy';
import { realPathOf } from '@ethosagent/process';
import type { StorageScope } from '@ethosagent/types';
import type { CallReads, SourceWatch } from './turn-host.js';

/**
 * What the stores of a call or a service need to know about untrusted text: text that an adversary
 * may have written.
 */
export interface Taint {
  /** Whether text that is written now may be untrusted. */
  taints(scope: StorageScope): boolean;
  /** The call read text that had been stored by a call that worked with untrusted text. */
  noteRead(scope: StorageScope): void;
  /** Whether the call has read such text. */
  readonly hasReadStored: boolean;
  /** A call that this call made gave it untrusted text. */
  noteCalled(): void;
  /** Records where the call's text comes from. Absent when nobody asks for that. */
  readonly sources?: SourceNotes | undefined;
}

/** What accessors report about the reads of a call, and ask before a write. */
export interface SourceNotes {
  /** One hop of a request. */
  noteUrl(url: string): void;
  /**
   * Called before and after a read of a file or folder. If a link led elsewhere meanwhile, both
   * places are noted.
   */
  noteFile(path: string): void;
  /**
   * The call read text that another call had stored.
   * @param sources what that other call had read until then; `undefined` if unknown
   */
  noteKept(sources: readonly ReadSource[] | undefined): void;
  /** What the call has read so far; `undefined` if not all of it is known. */
  known(): readonly ReadSource[] | undefined;
  /**
   * Called, and awaited, before files or folders are changed.
   * @param moved the one of the paths that is moved to another, with everything in it
   * @throws an error that prevents the change
   */
  beforeWrite(paths: readonly string[], moved?: string): Promise<void> | undefined;
}

export interface CallTaintOptions {
  /** The session of the call has read untrusted text. */
  session: boolean;
  /** The tool of the call returns untrusted text. */
  output: boolean;
  /** Whether a service of the tool has already read untrusted text. */
  hasServiceRead: () => boolean;
  /** The accessors see everything that the tool reads. */
  isSeen: boolean;
  /** Given when somebody wants to know where text comes from. */
  watch: SourceWatch | undefined;
}

/**
 * The most sources of one call that are remembered. With more of them, the list counts as
 * incomplete.
 */
const MAX_SOURCES = 500;

/**
 * Whether a call works with text that an adversary may have written.
 *
 * The invariant: doubt counts as taint. A source that can't be named, or one too many, sets
 * `isWhole` to false. Reading tainted text sets `hasRead`. Nothing sets either of them back. A file
 * is marked before it is changed. So a crash between the two leaves a clean file that is marked,
 * and never a tainted file that is not.
 */
export class CallTaint implements Taint {
  readonly #options: CallTaintOptions;
  #hasReadStored = false;
  #hasCalled = false;
  #sources: Map<string, ReadSource> | undefined;
  #isWhole = true;
  /** Whether it is not known where the links of a file led. */
  #isUnfollowed = false;

  constructor(options: CallTaintOptions) {
    this.#options = options;
  }

  get sources(): SourceNotes | undefined {
    return this.#options.watch === undefined ? undefined : this;
  }

  /** What the call read; `undefined` when nobody asks for it. */
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
    // A personality that trusts no file does not ask where links lead. One that later reads what
    // the call kept may trust some.
    const isFollowed = this.#options.watch?.trust.isEmpty === false;
    if (!isFollowed) this.#isUnfollowed = true;
    const real = isFollowed ? realPathOf(named) : named;
    if (real === undefined) this.#isWhole = false;
    else this.#note({ kind: 'file', path: named, real });
  }

  noteKept(sources: readonly ReadSource[] | undefined): void {
    if (sources === undefined) this.#isWhole = false;
    for (const source of sources ?? []) this.#note(source);
  }

  known(): readonly ReadSource[] | undefined {
    const { reads } = this;
    return reads?.isWhole === true && !this.#isUnfollowed ? reads.sources : undefined;
  }

  beforeWrite(paths: readonly string[], moved?: string): Promise<void> | undefined {
    const { isSeen, session, watch } = this.#options;
    if (watch === undefined) return undefined;
    const places = [
      ...new Set(paths.flatMap((path) => [normalizePath(path), realPathOf(path) ?? []]).flat()),
    ];
    if (session || this.hasRead || !this.#isWhole) return watch.beforeWrite(places);
    // Its program or its service may have read something that no accessor saw.
    if (!isSeen) return watch.trustsTool ? undefined : watch.beforeWrite(places);
    const from = this.#broughtTo(places, moved);
    if (from.length === 0) return undefined;
    return from.every((source) => watch.trust.covers(source))
      ? this.#unlessClean(from, places, watch)
      : watch.beforeWrite(places);
  }

  /**
   * All sources are trusted. But a session may have changed a trusted file after it had read
   * untrusted text.
   */
  async #unlessClean(
    from: readonly ReadSource[],
    places: readonly string[],
    watch: SourceWatch,
  ): Promise<void> {
    if (await watch.isWritten(from)) await watch.beforeWrite(places);
  }

  /**
   * As `beforeWrite`, for what programs and services of the call may change. Called before they
   * begin.
   */
  beforeUnseenWrite(places: readonly string[]): Promise<void> | undefined {
    return this.#taintsUnseen ? this.#options.watch?.beforeWrite(places) : undefined;
  }

  /**
   * What a program writes need not be in the results, so the tool's own declaration about its
   * results does not decide here.
   */
  get #taintsUnseen(): boolean {
    const { session, watch } = this.#options;
    return session || this.hasRead || watch?.trustsTool !== true;
  }

  /**
   * Where the text that is written may come from. Text that a place already held stays there, so it
   * is not counted, unless it is moved.
   */
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
    // Other tools read a shared store, and the mark on this tool's own results does not reach them.
    const isShared = scope === 'personality';
    return session || this.hasRead || (isShared && output);
  }

  /** Whether a store, or a call that it made, gave the call untrusted text. */
  get hasRead(): boolean {
    return this.#hasCalled || this.hasReadStored;
  }

  get hasReadStored(): boolean {
    return this.#hasReadStored || this.#options.hasServiceRead();
  }

  noteRead(scope: StorageScope): void {
    // A tainted session may read its own notes again; the session is marked already.
    if (scope === 'session' && this.#options.session) return;
    this.#hasReadStored = true;
  }

  noteCalled(): void {
    this.#hasCalled = true;
  }
}
