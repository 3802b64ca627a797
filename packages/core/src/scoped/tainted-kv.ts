import { createHash } from 'node:crypto';
import { isListOf, isOneOf, isShape, isString, type ReadSource } from '@ethosagent/policy';
import type { KeyValueStore, StorageScope } from '@ethosagent/types';
import type { AccessScope } from '../access.js';
import type { Taint } from '../call-taint.js';
import { isAtomic } from '../checked/checked-kv.js';

type SetOptions = { ttlSeconds?: number };

export interface TaintedKvOptions {
  readonly taint: Taint;
  /** Which calls share the store. */
  readonly sharing: StorageScope;
  /** Milliseconds since the epoch. */
  now(): number;
  /** The life of the call: it makes no marks after its end. */
  readonly life: Pick<AccessScope, 'assertLive'>;
  /** The store of the marks, which no tool sees. Opened when a mark is looked for or made. */
  marks(): KeyValueStore;
}

const DAY_MS = 86_400_000;
/** After so long, a mark that is forgotten is gone. */
const FORGET_SECONDS = 1;
/** From how many marks on, of the values of one key and of keys, old ones are removed. */
const MANY_VALUES = 16;
const MANY_KEYS = 1_000;
const ENDS = ':ends';
const NUMBER = /^-?\d{1,16}$/;
/** Digests and counts, such as the keys of an index. They can't form words. */
const DIGESTS = /^[0-9a-f/:._-]*$/;
const MAX_NOTED_SOURCES = 16;

/**
 * A store that outlives its call, and may outlive what its session knows. When a tainted call
 * writes a value, a mark with the digest of the value is stored beside it. A call that later reads
 * that value is tainted too. A number carries no text and needs no mark.
 *
 * The invariant: a value of a tainted call that is in the store has a mark. A mark is made before
 * its value, and is removed only when the value can't be there any more. Whatever is written in
 * between, there may be one mark too many, and never one too few.
 */
class TaintedKv implements KeyValueStore {
  readonly #store: KeyValueStore;
  readonly #options: TaintedKvOptions;
  #marks: KeyValueStore | undefined;

  constructor(store: KeyValueStore, options: TaintedKvOptions) {
    this.#store = store;
    this.#options = options;
  }

  async get(key: string): Promise<string | null> {
    const value = await this.#store.get(key);
    if (value === null || isNumber(value)) return value;
    const marks = await this.marks.list(valueMark(key, value));
    if (marks.length > 0) this.#noteRead();
    await this.#noteSources(key, value);
    return value;
  }

  async list(prefix: string): Promise<string[]> {
    const keys = await this.#store.list(prefix);
    if (keys.length === 0) return keys;
    const marked = new Set(await this.marks.list('k:'));
    if (keys.some((key) => marked.has(keyMark(key)))) this.#noteRead();
    if (!keys.every((key) => DIGESTS.test(key))) this.#options.taint.sources?.noteKept(undefined);
    return keys;
  }

  async set(key: string, value: string, opts?: SetOptions): Promise<void> {
    await this.mark(key, value, opts);
    await (opts === undefined ? this.#store.set(key, value) : this.#store.set(key, value, opts));
  }

  delete(key: string): Promise<void> {
    return this.#store.delete(key);
  }

  /** Marks a value that a tainted call is about to write. */
  protected async mark(key: string, value: string, opts: SetOptions | undefined): Promise<void> {
    const { taint, sharing } = this.#options;
    if (!taint.taints(sharing)) return this.#markSources(key, value, opts);
    const { marks } = this;
    const now = String(this.#options.now());
    if ((await this.#store.get(key)) === null) {
      await marks.set(keyMark(key), now);
      await this.#forgetKeys();
    }
    if (isNumber(value)) return;
    const mark = valueMark(key, value);
    // A mark that expires has a name of its own: the same value may already be there, and stay
    // longer.
    await (opts?.ttlSeconds === undefined
      ? marks.set(mark, now)
      : marks.set(`${mark}${ENDS}`, now, { ttlSeconds: opts.ttlSeconds + DAY_MS / 1_000 }));
    await this.#forgetValues(key, mark);
  }

  /**
   * Records what the call had read until it wrote the value. So a cache of pages is trusted as the
   * pages are. Without this record the sources of the value are unknown.
   */
  async #markSources(key: string, value: string, opts: SetOptions | undefined): Promise<void> {
    const sources = this.#options.taint.sources?.known();
    if (sources === undefined || sources.length > MAX_NOTED_SOURCES || isNumber(value)) return;
    const mark = sourceMark(key, value);
    const known = JSON.stringify(sources);
    await (opts?.ttlSeconds === undefined
      ? this.marks.set(mark, known)
      : this.marks.set(mark, known, { ttlSeconds: opts.ttlSeconds + DAY_MS / 1_000 }));
    const others = (await this.marks.list(sourceMark(key))).filter((other) => other !== mark);
    if (others.length > MANY_VALUES) for (const other of others) await this.marks.delete(other);
  }

  async #noteSources(key: string, value: string): Promise<void> {
    const { sources } = this.#options.taint;
    sources?.noteKept(parseSources(await this.marks.get(sourceMark(key, value))));
  }

  #noteRead(): void {
    const { taint, sharing } = this.#options;
    taint.noteRead(sharing);
  }

  protected get marks(): KeyValueStore {
    this.#options.life.assertLive();
    this.#marks ??= this.#options.marks();
    return this.#marks;
  }

  /** Removes old marks of values that the key no longer has. */
  async #forgetValues(key: string, made: string): Promise<void> {
    const all = await this.marks.list(valueMark(key));
    if (all.length <= MANY_VALUES) return;
    const value = await this.#store.get(key);
    const there = value === null ? undefined : valueMark(key, value);
    const isOf = (mark: string, value: string | undefined) =>
      mark === value || mark === `${value}${ENDS}`;
    await this.#forgetOld(all.filter((mark) => !isOf(mark, made) && !isOf(mark, there)));
  }

  /** Removes old marks of keys that are no longer there. */
  async #forgetKeys(): Promise<void> {
    const all = await this.marks.list('k:');
    if (all.length <= MANY_KEYS) return;
    const there = new Set((await this.#store.list('')).map(keyMark));
    await this.#forgetOld(all.filter((mark) => !there.has(mark)));
  }

  // A younger mark may belong to a write that is still running, and that write may renew an old one
  // at any moment. So an old one is only given an end, and only if it is still the old one.
  async #forgetOld(marks: readonly string[]): Promise<void> {
    const store = this.marks;
    // Without such a step, all of them stay.
    if (!isAtomic(store)) return;
    for (const mark of marks) {
      const madeAt = await store.get(mark);
      if (madeAt === null || Number(madeAt) >= this.#options.now() - DAY_MS) continue;
      await store.compareAndSet(mark, madeAt, madeAt, { ttlSeconds: FORGET_SECONDS });
    }
  }
}

/** The same for a store that has the atomic methods too. */
class AtomicTaintedKv extends TaintedKv implements Required<KeyValueStore> {
  readonly #atomic: Required<KeyValueStore>;

  constructor(store: Required<KeyValueStore>, options: TaintedKvOptions) {
    super(store, options);
    this.#atomic = store;
  }

  async increment(key: string, by?: number, opts?: SetOptions): Promise<number> {
    await this.mark(key, '0', opts);
    return this.#atomic.increment(key, by, opts);
  }

  // biome-ignore lint/complexity/useMaxParams: a documented signature
  async compareAndSet(
    key: string,
    expected: string | null,
    value: string,
    opts?: SetOptions,
  ): Promise<boolean> {
    await this.mark(key, value, opts);
    return this.#atomic.compareAndSet(key, expected, value, opts);
  }
}

/** A store that carries taint. It has the atomic methods if the backend's store has both. */
export function taintedKv(store: KeyValueStore, options: TaintedKvOptions): KeyValueStore {
  return isAtomic(store) ? new AtomicTaintedKv(store, options) : new TaintedKv(store, options);
}

function isNumber(value: string): boolean {
  return NUMBER.test(value);
}

function keyMark(key: string): string {
  return `k:${digest(key)}`;
}

/** The mark of a value. Without a value, the prefix of the marks of all values of a key. */
function valueMark(key: string, value?: string): string {
  return `v:${digest(key)}:${value === undefined ? '' : digest(value)}`;
}

/**
 * The name of the record of a value's sources. Without a value, the prefix of these names for all
 * values of a key.
 */
function sourceMark(key: string, value?: string): string {
  return `s:${digest(key)}:${value === undefined ? '' : digest(value)}`;
}

const isSource = (value: unknown): value is ReadSource =>
  isShape({ kind: isOneOf(['url']), url: isString })(value) ||
  isShape({ kind: isOneOf(['file']), path: isString, real: isString })(value);

function parseSources(text: string | null): ReadSource[] | undefined {
  try {
    const parsed: unknown = text === null ? undefined : JSON.parse(text);
    return isListOf(isSource)(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
