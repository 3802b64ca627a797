import { tries } from '@ethosagent/test-support';
import { describe } from 'vitest';
import { denyAttacks } from './storage/deny-attacks.js';
import { linkAttacks } from './storage/link-attacks.js';
import { raceAttacks } from './storage/race-attacks.js';
import { specialFileAttacks } from './storage/special-file-attacks.js';
import { type CreateContained, StorageWorld } from './storage/storage-world.js';
import { type StartWriter, writeAttacks } from './storage/write-attacks.js';

/** The promises of a storage beyond the contract. */
export interface StorageAttackOptions {
  /**
   * Whether the storage notices a file or folder that is replaced by a link between check and use.
   * A storage can do so on systems where descriptors have paths. `true` when absent.
   */
  seesRaces?: boolean;
  /**
   * Whether the storage knows a file on the deny floor by its other hard links. `true` when absent.
   */
  seesHardLinks?: boolean;
  /**
   * The number of replacements by links, in a check, in a nightly run (ten times as many as in a check
   * when absent) and in a full one. 150 and 100,000 when absent.
   */
  swaps?: { check: number; nightly?: number; long: number };
  /**
   * Starts a writer in a process of its own, which a test kills. When absent, no writer is killed.
   */
  startWriter?: StartWriter;
}

/**
 * Registers tests that attack a storage on the disk of this machine that is limited to a reach:
 * with paths that lead out, links of every kind, hard links to denied files, pipes, devices, huge
 * files, replacements during a call, many writers, and kills in the middle of a write. Call it in a
 * test file, on Linux.
 *
 * The tests read well-known places of the machine, and write only to a temporary folder of their
 * own.
 *
 * @param name the name of the storage, for the names of the tests
 * @param create creates the storage; its reach may be `/`, only for reading
 * @param options the attacks that the storage can notice, and how to start a writer that is killed
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
