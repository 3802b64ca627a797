import type { Storage, StorageChange } from '@ethosagent/types';
import { afterAll, beforeAll, expect } from 'vitest';

/** A storage to test, and a folder in it for the tests. */
export interface StorageUnderTest {
  storage: Storage;
  /** The absolute path of an empty folder, which need not exist. Tests write only below it. */
  root: string;
  /** Closes the storage. Called once, after all tests. */
  close?(): void | Promise<void>;
}

/** One storage for all tests of a suite. Each test uses a folder of its own. */
export class StorageSuiteWorld {
  declare storage: Storage;
  #root = '';
  #folders = 0;

  constructor(create: () => StorageUnderTest | Promise<StorageUnderTest>) {
    let subject: StorageUnderTest;
    beforeAll(async () => {
      subject = await create();
      this.storage = subject.storage;
      this.#root = subject.root;
    });
    afterAll(() => subject.close?.());
  }

  /** A folder of its own for each test. */
  fresh(): string {
    this.#folders += 1;
    return `${this.#root}/${this.#folders}`;
  }

  /** A fresh folder with the files `file` and `sub/file`. */
  async withFiles(): Promise<{ folder: string; before: Record<string, string | null> }> {
    const folder = this.fresh();
    await this.storage.write(`${folder}/file`, 'old');
    await this.storage.write(`${folder}/sub/file`, 'deep');
    return { folder, before: await treeOf(this.storage, folder) };
  }
}

/** Returns all files below a folder with their content. The name of a folder ends in a slash. */
export async function treeOf(
  storage: Storage,
  folder: string,
): Promise<Record<string, string | null>> {
  const tree: Record<string, string | null> = {};
  for (const { name, isDir } of await storage.listEntries(folder)) {
    const path = `${folder}/${name}`;
    if (isDir) Object.assign(tree, { [`${path}/`]: null }, await treeOf(storage, path));
    else tree[path] = await storage.read(path);
  }
  return tree;
}

/** Appends to a file. Returns no promise if the storage can't append. */
export function appends(storage: Storage, path: string, opts?: StorageChange): Promise<void>[] {
  return storage.append === undefined ? [] : [storage.append(path, 'x', opts)];
}

export const code = (expected: string) => expect.objectContaining({ code: expected });
