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

/** What of the boundary the machine can keep. */
export interface FsAttackOptions {
  /** Whether what is swapped between check and use is noticed. `true` when absent. */
  seesRaces?: boolean;
  /** As `storageAttacks` has it. */
  seesHardLinks?: boolean;
  /** What stands before the files, such as one that records. Nothing when absent. */
  wrap?: (storage: Storage) => Storage;
}

/**
 * Attacks the files of tool calls: everything that `storageAttacks` tries on a storage, through
 * `ctx.scopedFs` and `ctx.storage` of calls of a registry; and what tools declare, personalities
 * allow, and names are. Over `FsStorage`, on Linux. Call it in a test file.
 *
 * It reads well-known places of the machine and writes only to a temporary folder of its own.
 *
 * @param name of the registry, for the names of the tests
 * @param create makes an empty registry over the backends that it is given
 * @param options what the storage can see, and a function around the tools' accesses
 */
export function fsAttacks(
  name: string,
  create: CreateRegistry,
  { seesRaces = true, seesHardLinks = true, wrap }: FsAttackOptions = {},
): void {
  // Both accessors limit a storage by the same function. So if there is a `wrap`, one of them is
  // enough.
  const standsForBoth = (accessor: FileAccessor) => wrap === undefined || accessor === 'scopedFs';
  for (const accessor of inCheck<FileAccessor>(['scopedFs', 'storage'], standsForBoth)) {
    const view = (reach: ContainedReach, { home }: { home: string }) =>
      new StorageThroughRegistry(create, { accessor, personality: reach, home, wrap });
    storageAttacks(`ctx.${accessor} of ${name}`, view, {
      seesRaces,
      seesHardLinks,
      swaps: { check: 50, long: 20_000 },
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
