import { dirname } from 'node:path';
import { compareCodePoints, enterPath, isWithin } from '@ethosagent/policy';
import {
  type ContainedReach,
  type ErrorCode,
  EthosError,
  type Storage,
  type StorageChange,
  type StorageEntry,
} from '@ethosagent/types';
import { lexicalView } from './lexical-view.js';

interface Node {
  /** Absent for a folder. */
  bytes?: Uint8Array;
  /** The paths of what is in a folder. Absent for a file. */
  children?: Set<string>;
  mtimeMs: number;
}

/** Options of `InMemoryStorage`. */
export interface InMemoryStorageOptions {
  /** Returns milliseconds since the epoch. `Date.now` when absent. */
  now?: () => number;
}

/** Storage in memory that behaves like `FsStorage`, but has no links and keeps no modes. */
export class InMemoryStorage implements Storage {
  readonly #nodes = new Map<string, Node>();
  readonly #now: () => number;

  /**
   * Creates a storage that contains only the root folder.
   *
   * @param options `now`: returns milliseconds since the epoch; `Date.now` when absent
   */
  constructor(options: InMemoryStorageOptions = {}) {
    this.#now = options.now ?? Date.now;
    this.#nodes.set(enterPath('/'), { children: new Set(), mtimeMs: this.#now() });
  }

  async read(path: string): Promise<string | null> {
    const bytes = this.#file(enterPath(path), path);
    return bytes === null ? null : Buffer.from(bytes).toString('utf8');
  }

  async readBytes(path: string): Promise<Uint8Array | null> {
    const bytes = this.#file(enterPath(path), path);
    return bytes === null ? null : Uint8Array.from(bytes);
  }

  async write(
    path: string,
    content: string | Uint8Array,
    opts?: StorageChange & { mode?: number },
  ): Promise<void> {
    const target = enterPath(path);
    const node = this.#nodes.get(target);
    if (node !== undefined && node.bytes === undefined) {
      throw failure('NOT_A_FILE', `write ${path}`, 'there is a folder already');
    }
    const bytes = Uint8Array.from(typeof content === 'string' ? Buffer.from(content) : content);
    this.#makeFolder(dirname(target), path, opts);
    this.#put(target, { bytes, mtimeMs: this.#now() });
  }

  async append(
    path: string,
    content: string | Uint8Array,
    opts?: StorageChange & { mode?: number },
  ): Promise<void> {
    const target = enterPath(path);
    const node = this.#nodes.get(target);
    if (node !== undefined && node.bytes === undefined) {
      throw failure('NOT_A_FILE', `append ${path}`, 'there is a folder already');
    }
    const bytes = Uint8Array.from(typeof content === 'string' ? Buffer.from(content) : content);
    this.#makeFolder(dirname(target), path, opts);
    const before = this.#nodes.get(target)?.bytes;
    const all = before === undefined ? bytes : joined(before, bytes);
    this.#put(target, { bytes: all, mtimeMs: this.#now() });
  }

  async exists(path: string): Promise<boolean> {
    return this.#nodes.has(enterPath(path));
  }

  async list(path: string): Promise<string[]> {
    return (await this.listEntries(path)).map((entry) => entry.name);
  }

  async listEntries(path: string): Promise<StorageEntry[]> {
    const node = this.#nodes.get(enterPath(path));
    if (node?.bytes !== undefined) {
      throw failure('NOT_A_DIRECTORY', `list ${path}`, 'it is a file; read it instead');
    }
    return [...(node?.children ?? [])]
      .map((child) => ({
        name: nameOf(child),
        isDir: this.#nodes.get(child)?.bytes === undefined,
      }))
      .sort((a, b) => compareCodePoints(a.name, b.name));
  }

  async mtime(path: string): Promise<number | null> {
    return this.#nodes.get(enterPath(path))?.mtimeMs ?? null;
  }

  async mkdir(path: string, opts?: StorageChange & { mode?: number }): Promise<void> {
    this.#makeFolder(enterPath(path), path, opts);
  }

  async remove(path: string, opts?: StorageChange & { recursive?: boolean }): Promise<void> {
    const target = enterPath(path);
    const node = this.#nodes.get(target);
    if (node === undefined) {
      opts?.beforeChange?.();
      return;
    }
    if (dirname(target) === target) throw rootStays(path);
    if (node.bytes === undefined && opts?.recursive !== true) {
      throw failure('NOT_A_FILE', `remove ${path}`, 'it is a folder; ask for a recursive removal');
    }
    opts?.beforeChange?.();
    for (const key of this.#below(target)) this.#nodes.delete(key);
    this.#nodes.get(dirname(target))?.children?.delete(target);
  }

  async rename(from: string, to: string, opts?: StorageChange): Promise<void> {
    const source = enterPath(from);
    const target = enterPath(to);
    const node = this.#nodes.get(source);
    if (node === undefined) throw failure('FILE_NOT_FOUND', `rename ${from}`, 'there is nothing');
    if (dirname(source) === source) throw rootStays(from);
    if (source === target) {
      opts?.beforeChange?.();
      return;
    }
    if (isWithin(target, source)) {
      throw failure('STORAGE_FAILED', `rename ${to}`, 'a folder can not move into itself');
    }
    const replaced = this.#nodes.get(target);
    if (replaced !== undefined && (replaced.bytes === undefined || node.bytes === undefined)) {
      throw failure('ALREADY_EXISTS', `rename to ${to}`, 'only a file replaces a file');
    }
    this.#makeFolder(dirname(target), to, opts);
    const movedTo = (key: string) => target + key.slice(source.length);
    for (const key of this.#below(source)) {
      const moved = this.#nodes.get(key);
      this.#nodes.delete(key);
      if (moved?.children !== undefined) moved.children = new Set([...moved.children].map(movedTo));
      if (moved !== undefined) this.#nodes.set(movedTo(key), moved);
    }
    this.#nodes.get(dirname(source))?.children?.delete(source);
    this.#nodes.get(dirname(target))?.children?.add(target);
  }

  contained(reach: ContainedReach): Storage {
    return lexicalView(this, reach);
  }

  #file(path: string, asked: string): Uint8Array | null {
    const node = this.#nodes.get(path);
    if (node === undefined) return null;
    if (node.bytes === undefined) {
      throw failure('NOT_A_FILE', `read ${asked}`, 'it is a folder; list it instead');
    }
    return node.bytes;
  }

  /** Creates a folder for a change, and announces the change once it is clear that this works. */
  #makeFolder(path: string, asked: string, opts: StorageChange | undefined): void {
    const node = this.#nodes.get(path);
    if (node?.bytes !== undefined) {
      throw failure('NOT_A_DIRECTORY', `write ${asked}`, 'a part of the path is not a folder');
    }
    if (node !== undefined) {
      opts?.beforeChange?.();
      return;
    }
    this.#makeFolder(dirname(path), asked, opts);
    this.#put(path, { children: new Set(), mtimeMs: this.#now() });
  }

  /** Adds or replaces a node, in a folder that is there. */
  #put(path: string, node: Node): void {
    this.#nodes.set(path, node);
    this.#nodes.get(dirname(path))?.children?.add(path);
  }

  /** The path itself, and every path below it. */
  #below(path: string): string[] {
    const found = [path];
    // The list grows while it is read.
    for (const each of found)
      for (const child of this.#nodes.get(each)?.children ?? []) found.push(child);
    return found;
  }
}

/** Joins both parts in a buffer with spare room, so that many appends copy few bytes. */
function joined(before: Uint8Array, added: Uint8Array): Uint8Array {
  const length = before.length + added.length;
  const { buffer, byteOffset } = before;
  const start = byteOffset + before.length;
  if (start + added.length <= buffer.byteLength) {
    new Uint8Array(buffer, start).set(added);
    return new Uint8Array(buffer, byteOffset, length);
  }
  const roomy = new Uint8Array(2 * length);
  roomy.set(before);
  roomy.set(added, before.length);
  return roomy.subarray(0, length);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function rootStays(path: string): EthosError {
  return failure('PERMISSION_DENIED', `write ${path}`, 'a root or a device stays in place');
}

/** @param operation the operation, with its path */
function failure(code: ErrorCode, operation: string, reason: string): EthosError {
  return new EthosError(code, `${operation}: ${reason}`);
}
