import { homedir } from 'node:os';
import { denyFloor } from '@ethosagent/policy';
import type { ContainedReach, Storage, StorageChange, StorageEntry } from '@ethosagent/types';
import { createDenySet } from './deny-index.js';
import { assertNotRevealed, type Guard, openGuard } from './guard.js';
import { ReachGuard } from './reach-guard.js';

/**
 * A view of a storage that is held to a reach by the path's text alone. That contains a storage
 * without links; on one with links it doesn't.
 */
export class LexicalView implements Storage {
  readonly #inner: Storage;
  readonly #guard: Guard;
  /** Present where the storage can append. */
  declare readonly append?: NonNullable<Storage['append']>;

  constructor(inner: Storage, guard: Guard) {
    this.#inner = inner;
    this.#guard = guard;
    if (inner.append !== undefined) {
      this.append = async (path, content, opts) =>
        inner.append?.(guard.enter('write', path), content, opts);
    }
  }

  async read(path: string): Promise<string | null> {
    return this.#inner.read(this.#guard.enter('read', path));
  }

  async readBytes(path: string): Promise<Uint8Array | null> {
    return this.#inner.readBytes(this.#guard.enter('read', path));
  }

  async write(
    path: string,
    content: string | Uint8Array,
    opts?: StorageChange & { mode?: number },
  ): Promise<void> {
    return this.#inner.write(this.#guard.enter('write', path), content, opts);
  }

  async exists(path: string): Promise<boolean> {
    return this.#inner.exists(this.#guard.enter('read', path));
  }

  async list(path: string): Promise<string[]> {
    return this.#inner.list(this.#guard.enter('read', path));
  }

  async listEntries(path: string): Promise<StorageEntry[]> {
    return this.#inner.listEntries(this.#guard.enter('read', path));
  }

  async mtime(path: string): Promise<number | null> {
    return this.#inner.mtime(this.#guard.enter('read', path));
  }

  async mkdir(path: string, opts?: StorageChange & { mode?: number }): Promise<void> {
    return this.#inner.mkdir(this.#guard.enter('write', path), opts);
  }

  async remove(path: string, opts?: StorageChange & { recursive?: boolean }): Promise<void> {
    const target = this.#guard.enter('write', path);
    // Without `recursive` a storage removes nothing but files.
    this.#guard.judgeMove(target, path, opts?.recursive !== true);
    return this.#inner.remove(target, opts);
  }

  async rename(from: string, to: string, opts?: StorageChange): Promise<void> {
    const source = this.#guard.enter('write', from);
    const target = this.#guard.enter('write', to);
    this.#guard.judgeMove(source, from, false);
    this.#guard.judgeMove(target, to, false);
    assertNotRevealed(this.#guard, { source, target, asked: from });
    return this.#inner.rename(source, target, opts);
  }

  contained(reach: ContainedReach): Storage {
    return lexicalView(this.#inner, reach, this.#guard);
  }
}

/** Holds `inner` to a reach and to the deny floor by the text of paths. */
export function lexicalView(
  inner: Storage,
  reach: ContainedReach,
  outer: Guard = openGuard,
): LexicalView {
  const deny = createDenySet([...denyFloor({ home: homedir() }), ...(reach.deny ?? [])]);
  return new LexicalView(inner, new ReachGuard(reach, deny, outer, (path) => path));
}
