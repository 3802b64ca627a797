import { readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { PersonalityFsReach } from '@ethosagent/core';
import { isWithin } from '@ethosagent/policy';
import { realLocation } from '@ethosagent/storage-fs';
import { EthosError, type PersonalityConfig } from '@ethosagent/types';
import { personalityConfigPath } from './personality-file.js';

/**
 * The reach of a personality, without what would let its tools change what they or others may
 * reach: the file of every personality, and with a write reach around all personalities, their
 * folder.
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
  if (write.length === 0) return { read, write, deny: [file] };
  // By where they lead: the home may be named through a link, and the working directory never is.
  const real = realLocation(personalities);
  const roots = write.map((named) => ({ named, at: realLocation(named) }));
  const around = roots.find(({ at }) => isWithin(real, at));
  const below = roots.filter(({ at }) => at !== real && isWithin(at, real));
  if (around !== undefined && below[0] !== undefined) {
    throw new EthosError(
      'CONFIG_INVALID',
      `${file}: fs_reach.write: ${around.named} holds every personality, and ${below[0].named} is one of them; a tool could make itself another. Name folders beside ${personalities} instead of ${around.named}`,
    );
  }
  return {
    read,
    write,
    deny: [
      ...new Set([
        file,
        ...(around === undefined ? [] : [personalities]),
        // One that is not there yet could be made by who may write in its folder.
        ...below.map(({ at }) => configIn(real, relative(real, at).split(sep)[0] ?? '')),
        // One that is there may be a link to where `below` doesn't look; and the floor doesn't
        // follow links below a folder that it denies whole.
        ...entriesOf(personalities, file).flatMap((name) => {
          const config = configIn(personalities, name);
          return [config, realLocation(config)];
        }),
      ]),
    ],
  };
}

function configIn(personalities: string, name: string): string {
  return join(personalities, name, 'config.yaml');
}

function entriesOf(personalities: string, file: string): string[] {
  try {
    return readdirSync(personalities);
  } catch (cause) {
    throw new EthosError(
      'CONFIG_INVALID',
      `${file}: fs_reach.write: ${personalities} can not be listed, so the files of other personalities can not be kept from tools; make it readable for this process`,
      { cause },
    );
  }
}
