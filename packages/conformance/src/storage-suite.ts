import { describe } from 'vitest';
import { appendTests } from './storage/append-tests.js';
import { beforeChangeTests } from './storage/before-change-tests.js';
import { containedTests } from './storage/contained-tests.js';
import { folderTests } from './storage/folder-tests.js';
import { pathTests } from './storage/path-tests.js';
import { readWriteTests } from './storage/read-write-tests.js';
import { removeRenameTests } from './storage/remove-rename-tests.js';
import { StorageSuiteWorld, type StorageUnderTest } from './storage/storage-suite-world.js';
import { wrongKindTests } from './storage/wrong-kind-tests.js';

/**
 * Registers tests that a storage keeps the contract of `Storage`. Call it in a test file.
 *
 * @param name the name of the storage, for the names of the tests
 * @param create creates the storage; called once, before the tests
 */
export function storageConformance(
  name: string,
  create: () => StorageUnderTest | Promise<StorageUnderTest>,
): void {
  describe(`${name} as a Storage`, () => {
    const world = new StorageSuiteWorld(create);
    readWriteTests(world);
    appendTests(world);
    pathTests(world);
    wrongKindTests(world);
    folderTests(world);
    removeRenameTests(world);
    beforeChangeTests(world);
    containedTests(world);
  });
}
