import { type ForwardableStorage, HeldStorage } from '@ethosagent/policy';
import { realPathOf } from '@ethosagent/process';
import type { ContainedReach, Storage } from '@ethosagent/types';

/**
 * A storage, held to a reach: by its own contained view, and where it has none, by where paths lead
 * on the disk of this host, looked up right before each access. That is weaker: what is swapped for
 * a link in between is not noticed, nor is a hard link to a denied file.
 */
export function holdStorage(storage: ForwardableStorage, reach: ContainedReach): Storage {
  return storage.contained?.(reach) ?? new HeldStorage(storage, { reach, realPathOf });
}
