import { type ForwardableStorage, HeldStorage } from '@ethosagent/policy';
import { realPathOf } from '@ethosagent/process';
import type { ContainedReach, Storage } from '@ethosagent/types';

/**
 * A storage, limited to a reach. It uses the storage's own contained view. If there is none, it
 * looks up where paths lead on the disk of this host, right before each access. That is weaker: it
 * does not notice a path that is replaced by a link after the look-up, nor a hard link to a denied
 * file.
 */
export function holdStorage(storage: ForwardableStorage, reach: ContainedReach): Storage {
  return storage.contained?.(reach) ?? new HeldStorage(storage, { reach, realPathOf });
}
