import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countTries } from '@ethosagent/test-support';
import type { ContainedReach, Storage } from '@ethosagent/types';
import { afterEach, beforeEach, expect, type TestContext } from 'vitest';

/**
 * Creates a storage on the disk that is limited to a reach, and denies the credentials of a home.
 */
export type CreateContained = (reach: ContainedReach, options: { home: string }) => Storage;

/** The error for every path outside a reach. */
export const boundary: unknown = expect.objectContaining({
  code: 'PATH_NOT_REACHABLE',
  name: 'BoundaryError',
});

/**
 * A separate folder for each test. `inside` may be read and written. The attacks start there and
 * try to reach `outside`, whose name has the same prefix.
 */
export class StorageWorld {
  base = '';
  inside = '';
  outside = '';
  home = '';
  /** A view that is limited to `inside`. */
  declare view: Storage;
  readonly #create: CreateContained;

  constructor(create: CreateContained) {
    this.#create = create;
    beforeEach(() => this.#build());
    afterEach(() => rmSync(this.base, { recursive: true, force: true }));
  }

  create(reach: ContainedReach): Storage {
    return this.#create(reach, { home: this.home });
  }

  #build(): void {
    this.base = realpathSync(mkdtempSync(join(tmpdir(), 'storage-attacks-')));
    this.inside = join(this.base, 'data');
    this.outside = join(this.base, 'database');
    this.home = join(this.base, 'home');
    for (const folder of [join(this.inside, 'sub'), join(this.outside, 'dir')]) {
      mkdirSync(folder, { recursive: true });
    }
    mkdirSync(join(this.home, '.ssh'), { recursive: true });
    writeFileSync(join(this.home, '.ssh', 'id'), 'PRIVATE');
    writeFileSync(join(this.inside, 'file'), 'hello');
    writeFileSync(join(this.inside, 'sub', 'file'), 'deep');
    writeFileSync(join(this.outside, 'secret'), 'SECRET');
    writeFileSync(join(this.outside, 'dir', 'secret'), 'SECRET');
    this.view = this.create({ read: [this.inside], write: [this.inside] });
  }
}

type Calls = Record<string, () => Promise<unknown>>;

export function readingCalls(storage: Storage, path: string): Calls {
  return {
    read: () => storage.read(path),
    readBytes: () => storage.readBytes(path),
    exists: () => storage.exists(path),
    list: () => storage.list(path),
    listEntries: () => storage.listEntries(path),
    mtime: () => storage.mtime(path),
  };
}

/**
 * Returns a call of every method with the path as each of its arguments. `inside` is a folder
 * within the reach.
 */
export function everyCall(storage: Storage, path: string, inside: string): Calls {
  return {
    ...readingCalls(storage, path),
    write: () => storage.write(path, 'pwned'),
    append: () => append(storage, path, 'pwned'),
    mkdir: () => storage.mkdir(path),
    remove: () => storage.remove(path),
    removeRecursive: () => storage.remove(path, { recursive: true }),
    renameFrom: () => storage.rename(path, join(inside, 'stolen')),
    renameTo: () => storage.rename(join(inside, 'file'), path),
  };
}

/** Appends to a file, or writes it if the storage can't append. */
export function append(storage: Storage, path: string, content: string): Promise<void> {
  return (storage.append ?? storage.write).call(storage, path, content);
}

/** Makes the calls, expects a denial for each, and counts them. */
export async function expectDenied(context: TestContext, calls: Calls): Promise<void> {
  for (const [method, call] of Object.entries(calls)) {
    await expect(call(), method).rejects.toEqual(boundary);
  }
  countTries(context, 'reach', Object.keys(calls).length);
}

export function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

/** Returns a file, or a folder with everything below it, as text, to show that nothing changed. */
export function snapshot(path: string): string {
  const found = lstatSync(path, { bigint: true });
  const target = found.isSymbolicLink() ? readlinkSync(path) : '';
  const names = found.isDirectory() ? readdirSync(path).sort() : [];
  const own = `${path} ${found.mode} ${target} ${found.size} ${found.mtimeNs}`;
  return [own, ...names.map((name) => snapshot(join(path, name)))].join('\n');
}
