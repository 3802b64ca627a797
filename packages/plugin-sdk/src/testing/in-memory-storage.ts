import { dirname, join } from 'node:path';
import { compareCodePoints, isWithin, normalizePath, pathProblem } from '@ethosagent/policy';
import { EthosError, type Storage, type StorageChange, type StorageEntry } from '@ethosagent/types';

interface MemoryFile {
  bytes: Uint8Array;
  mtimeMs: number;
}

/**
 * Creates a storage with files in memory, for tests of tools. It has no links and no permissions.
 *
 * @param files text or bytes, by absolute path
 * @param now returns milliseconds since the epoch, for `mtime`
 * @returns the storage
 * @throws `PATH_INVALID` for a path that is not absolute: no tool would find the file
 */
export function createInMemoryStorage(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  now: () => number = Date.now,
): Storage {
  const storage = new InMemoryStorage(now);
  for (const [path, content] of Object.entries(files)) {
    if (!path.startsWith('/')) {
      throw new EthosError(
        'PATH_INVALID',
        `${JSON.stringify(path)} is not an absolute path; write ${JSON.stringify(join('/workspace', path))} for a file of the working directory of runTool`,
      );
    }
    storage.put(path, content);
  }
  return storage;
}

class InMemoryStorage implements Storage {
  readonly #files = new Map<string, MemoryFile>();
  readonly #folders = new Map<string, number>([['/', 0]]);
  /** The paths of what is in each folder that was used. */
  readonly #children = new Map<string, Set<string>>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  put(path: string, content: string | Uint8Array, opts?: StorageChange): void {
    const at = canonical(path);
    if (this.#folders.has(at)) throw new EthosError('NOT_A_FILE', `${path} is a directory`);
    this.#makeFolders(dirname(at), path, opts);
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content.slice();
    this.#files.set(at, { bytes, mtimeMs: this.#now() });
    this.#addToFolder(at);
  }

  async read(path: string): Promise<string | null> {
    const bytes = await this.readBytes(path);
    return bytes === null ? null : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  }

  async readBytes(path: string): Promise<Uint8Array | null> {
    const at = canonical(path);
    if (this.#folders.has(at)) throw new EthosError('NOT_A_FILE', `${path} is a directory`);
    return this.#files.get(at)?.bytes.slice() ?? null;
  }

  async write(path: string, content: string | Uint8Array, opts?: StorageChange): Promise<void> {
    this.put(path, content, opts);
  }

  async append(path: string, content: string | Uint8Array, opts?: StorageChange): Promise<void> {
    const added = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    const before = this.#files.get(canonical(path))?.bytes ?? new Uint8Array();
    const all = new Uint8Array(before.length + added.length);
    all.set(before);
    all.set(added, before.length);
    this.put(path, all, opts);
  }

  async exists(path: string): Promise<boolean> {
    const at = canonical(path);
    return this.#files.has(at) || this.#folders.has(at);
  }

  async list(path: string): Promise<string[]> {
    return (await this.listEntries(path)).map(({ name }) => name);
  }

  async listEntries(path: string): Promise<StorageEntry[]> {
    const folder = canonical(path);
    if (this.#files.has(folder)) throw new EthosError('NOT_A_DIRECTORY', `${path} is a file`);
    return [...(this.#children.get(folder) ?? [])]
      .map((child) => ({
        name: child.slice(prefixOf(folder).length),
        isDir: this.#folders.has(child),
      }))
      .sort((a, b) => compareCodePoints(a.name, b.name));
  }

  async mtime(path: string): Promise<number | null> {
    const at = canonical(path);
    return this.#files.get(at)?.mtimeMs ?? this.#folders.get(at) ?? null;
  }

  async mkdir(path: string, opts?: StorageChange): Promise<void> {
    this.#makeFolders(canonical(path), path, opts);
  }

  async remove(path: string, opts?: StorageChange & { recursive?: boolean }): Promise<void> {
    const at = canonical(path);
    if (this.#folders.has(at) && opts?.recursive !== true) {
      throw new EthosError('NOT_A_FILE', `${path} is a directory; pass recursive to remove it`);
    }
    opts?.beforeChange?.();
    for (const key of this.#below(at)) {
      this.#children.delete(key);
      if (key === '/') continue;
      this.#files.delete(key);
      this.#folders.delete(key);
    }
    this.#children.get(dirname(at))?.delete(at);
  }

  async rename(from: string, to: string, opts?: StorageChange): Promise<void> {
    const source = canonical(from);
    const target = canonical(to);
    const isFolder = this.#folders.has(source);
    if (!isFolder && !this.#files.has(source)) {
      throw new EthosError('FILE_NOT_FOUND', `there is nothing at ${from}`);
    }
    if (source === target) {
      opts?.beforeChange?.();
      return;
    }
    if (isWithin(target, source)) throw new EthosError('STORAGE_FAILED', `${to} is below ${from}`);
    if (this.#folders.has(target) || (isFolder && this.#files.has(target))) {
      throw new EthosError('ALREADY_EXISTS', `${to} is in the way`);
    }
    this.#makeFolders(dirname(target), to, opts);
    const movedTo = (key: string) => target + key.slice(source.length);
    for (const key of this.#below(source)) {
      const children = this.#children.get(key);
      if (children !== undefined) this.#children.set(key, new Set([...children].map(movedTo)));
      moveKey(this.#children, key, movedTo(key));
      moveKey(this.#files, key, movedTo(key));
      moveKey(this.#folders, key, movedTo(key));
    }
    this.#children.get(dirname(source))?.delete(source);
    this.#addToFolder(target);
  }

  #addToFolder(path: string): void {
    const folder = dirname(path);
    const known = this.#children.get(folder);
    if (known === undefined) this.#children.set(folder, new Set([path]));
    else known.add(path);
  }

  /** The path itself, and every path below it. */
  #below(path: string): string[] {
    const found = [path];
    // The list grows while it is read.
    for (const each of found) for (const child of this.#children.get(each) ?? []) found.push(child);
    return found;
  }

  /** Creates a folder and those above it. Called when nothing can fail any more. */
  #makeFolders(folder: string, asked: string, opts?: StorageChange): void {
    const missing: string[] = [];
    for (let at = folder; !this.#folders.has(at); at = dirname(at)) {
      if (this.#files.has(at)) {
        throw new EthosError('NOT_A_DIRECTORY', `a part of ${asked} is a file`);
      }
      missing.push(at);
    }
    opts?.beforeChange?.();
    for (const at of missing.reverse()) {
      this.#folders.set(at, this.#now());
      this.#addToFolder(at);
    }
  }
}

function canonical(path: string): string {
  const problem = pathProblem(path);
  if (problem !== undefined) throw new EthosError('PATH_INVALID', problem);
  return normalizePath(path);
}

function prefixOf(folder: string): string {
  return folder === '/' ? '/' : `${folder}/`;
}

function moveKey<T>(map: Map<string, T>, from: string, to: string): void {
  const value = map.get(from);
  if (value === undefined) return;
  map.delete(from);
  map.set(to, value);
}
