import { tries } from '@ethosagent/test-support';
import { describe } from 'vitest';
import { denyAttacks } from './storage/deny-attacks.js';
import { linkAttacks } from './storage/link-attacks.js';
import { raceAttacks } from './storage/race-attacks.js';
import { specialFileAttacks } from './storage/special-file-attacks.js';
import { type CreateContained, StorageWorld } from './storage/storage-world.js';
import { type StartWriter, writeAttacks } from './storage/write-attacks.js';

/** What a storage promises beside the contract, and so is held to. */
export interface StorageAttackOptions {
  /**
   * Whether what is swapped for a link between check and use is noticed, as it can be where
   * descriptors have names. `true` when absent.
   */
  seesRaces?: boolean;
  /** Whether a file on the deny floor is known by its other names. `true` when absent. */
  seesHardLinks?: boolean;
  /** Swaps in a check and in a full run; a long one has at most 10 times those of a check. 150 and 100,000 when absent. */
  swaps?: { check: number; long: number };
  /** A writer to be killed, in a process of its own. Nobody is killed when absent. */
  startWriter?: StartWriter;
}

/**
 * Attacks a storage on the disk of this machine that is held to a reach: paths that lead out, links
 * of every kind, hard links to denied files, pipes, devices and huge files, swaps while it works,
 * many writers, and kills in the middle of a write. Call it in a test file, on Linux.
 *
 * It reads well-known places of the machine and writes only to a temporary folder of its own.
 *
 * @param name of the storage, for the names of the tests
 * @param create makes the storage; its reach may be `/`, for reading alone
 * @param options what the storage can see, and how processes of their own open it
 */
export function storageAttacks(
  name: string,
  create: CreateContained,
  {
    seesRaces = true,
    seesHardLinks = true,
    swaps = { check: 150, long: 100_000 },
    startWriter,
  }: StorageAttackOptions = {},
): void {
  describe(`${name} under attack`, () => {
    const world = new StorageWorld(create);
    linkAttacks(world);
    denyAttacks(world, seesHardLinks);
    specialFileAttacks(world);
    if (seesRaces) raceAttacks(world, tries(swaps));
    writeAttacks(world, startWriter);
  });
}
