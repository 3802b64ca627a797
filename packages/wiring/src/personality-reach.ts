import { join } from 'node:path';
import type { PersonalityFsReach } from '@ethosagent/core';
import { isWithin } from '@ethosagent/policy';
import { realLocation } from '@ethosagent/storage-fs';
import { EthosError, type PersonalityConfig } from '@ethosagent/types';
import { personalityConfigPath } from './personality-file.js';

/**
 * The reach of a personality, without what would let its tools change what they may reach: its own
 * file, and with a write reach around all personalities, all of them.
 *
 * @throws `CONFIG_INVALID` when it may write around all personalities and below them too: then a
 * tool could make another personality, and nothing can be denied without denying both
 */
export function personalityReach(
  home: string,
  { id, fs_reach }: PersonalityConfig,
): Required<PersonalityFsReach> {
  const read = fs_reach?.read ?? [];
  const write = fs_reach?.write ?? [];
  const personalities = join(home, 'personalities');
  const file = personalityConfigPath(home, id);
  // By where they lead: the home may be named through a link, and the working directory never is.
  const real = realLocation(personalities);
  const around = write.find((root) => isWithin(real, realLocation(root)));
  if (around === undefined) return { read, write, deny: [file] };
  const below = write.find(
    (root) => realLocation(root) !== real && isWithin(realLocation(root), real),
  );
  if (below !== undefined) {
    throw new EthosError(
      'CONFIG_INVALID',
      `${file}: fs_reach.write: ${around} holds every personality, and ${below} is one of them; a tool could make itself another. Name folders beside ${personalities} instead of ${around}`,
    );
  }
  return { read, write, deny: [personalities] };
}
