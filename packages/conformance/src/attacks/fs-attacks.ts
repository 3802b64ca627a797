import { inCheck } from '@ethosagent/test-support';
import type { ContainedReach, Storage } from '@ethosagent/types';
import { describe } from 'vitest';
import { callAttacks } from './fs/call-attacks.js';
import { declarationAttacks } from './fs/declaration-attacks.js';
import { nameAttacks, prefixAttacks } from './fs/name-attacks.js';
import { type FileAccessor, StorageThroughRegistry } from './fs/through-registry.js';
import type { CreateRegistry } from './registry/batch.js';
import { StorageWorld } from './storage/storage-world.js';
import { storageAttacks } from './storage-attacks.js';

/** The parts of the boundary that can be tested, and a wrapper around the files. */
export interface FsAttackOptions {
  /**
   * Whether the storage notices a file or folder that is replaced between check and use. `true`
   * when absent.
   */
  seesRaces?: boolean;
  /** Whether the storage knows a denied file by its other hard links. `true` when absent. */
  seesHardLinks?: boolean;
  /** Wraps the files of the tools, e.g. to record their accesses. No wrapper when absent. */
  wrap?: (storage: Storage) => Storage;
}

/**
 * Registers tests that attack the files of tool calls. Each attack of `storageAttacks` goes through
 * `ctx.scopedFs` and `ctx.storage` of calls of a registry. Further attacks use invalid names, and
 * declarations of tools that a personality limits. The tests use `FsStorage`, on Linux. Call it in
 * a test file.
 *
 * The tests read well-known places of the machine, and write only to a temporary folder of their
 * own.
 *
 * @param name the name of the registry, for the names of the tests
 * @param create creates an empty registry with the given backends
 * @param options the attacks that the storage can notice, and a wrapper around the files
 */
export function fsAttacks(
  name: string,
  create: CreateRegistry,
  { seesRaces = true, seesHardLinks = true, wrap }: FsAttackOptions = {},
): void {
  // Both accessors limit a storage by the same function, so one of them is enough in a check.
  const standsForBoth = (accessor: FileAccessor) => accessor === 'scopedFs';
  for (const accessor of inCheck<FileAccessor>(['scopedFs', 'storage'], standsForBoth)) {
    const view = (reach: ContainedReach, { home }: { home: string }) =>
      new StorageThroughRegistry(create, { accessor, personality: reach, home, wrap });
    storageAttacks(`ctx.${accessor} of ${name}`, view, {
      seesRaces,
      seesHardLinks,
      swaps: { check: 10, nightly: 500, long: 20_000 },
    });

    describe(`ctx.${accessor} of ${name} under attack`, () => {
      const world = new StorageWorld(view);
      nameAttacks(world);
      prefixAttacks(world);
      declarationAttacks(world, create, accessor);
    });
  }
  describe(`the files of ${name} under attack`, () => callAttacks(create));
}
