import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { dirname, join, parse, relative, sep } from 'node:path';
import type { PersonalityFsReach } from '@ethosagent/core';
import { type HomeStanding, homeStanding, isWithin, type NamedRoot } from '@ethosagent/policy';
import { linksOnTheWay, realLocation } from '@ethosagent/storage-fs';
import { EthosError, type PersonalityConfig } from '@ethosagent/types';
import { isPersonalityId, personalityConfigPath } from './personality-file.js';

/** The reach of a personality, with the entries that could not be given. */
export interface PersonalityReach extends Required<PersonalityFsReach> {
  problems: readonly ReachProblem[];
  /** Whether a personality could not be read. So it is not known where tools could make links. */
  isProvisional: boolean;
}

/** An entry of `fs_reach` that gives less than it says. */
export interface ReachProblem {
  key: 'fs_reach.read' | 'fs_reach.write';
  entry: string;
  message: string;
}

interface Root extends NamedRoot {
  readonly key: ReachProblem['key'];
  readonly standing: HomeStanding;
  /** A link on its path that a tool could have made, and that leads elsewhere. */
  readonly planted: string | undefined;
}

/** The folders to which tools of any personality may write, where they could also make links. */
class LinkMakers {
  readonly #folders: readonly string[];
  /** Personalities whose files can't be read. They may write anywhere. */
  readonly unread: readonly string[];

  constructor(home: string, configOf: (id: string) => PersonalityConfig | undefined) {
    const ids = entriesOf(join(home, 'personalities')).filter(isPersonalityId);
    const configs = ids.map((id) => [id, configOf(id)] as const);
    this.unread = configs.flatMap(([id, config]) =>
      config === undefined && mayExist(personalityConfigPath(home, id)) ? [id] : [],
    );
    this.#folders = configs
      .flatMap(([, config]) => config?.fs_reach?.write ?? [])
      .map(realLocation);
  }

  /** Whether a tool may have made a link that leads to `real`. */
  mayHaveMade(link: string, real: string): boolean {
    if (this.unread.length > 0 && isWritable(dirname(link))) return true;
    return this.#folders.some((folder) => isWithin(link, folder) && !isWithin(real, folder));
  }
}

function mayExist(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

/** Whether this process, and so a tool, may make links in a folder. */
function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * The reach of a personality, without the files that the runtime obeys or owns. Below the home, it
 * contains only folders that the personality names. It never contains the files of a personality.
 *
 * @throws `CONFIG_INVALID` if the personalities can't be listed
 */
export function personalityReach(
  home: string,
  { id, fs_reach }: PersonalityConfig,
  configOf: (id: string) => PersonalityConfig | undefined,
): PersonalityReach {
  const top: NamedRoot = { named: home, real: realLocation(home) };
  const makers = new LinkMakers(home, configOf);
  const rootOf = (key: Root['key']) => (named: string) => {
    const { links, real = named } = linksOnTheWay(named);
    const root = { named, real };
    const planted = links.find((link) => makers.mayHaveMade(link, real));
    return { ...root, key, planted, standing: homeStanding(root, top) };
  };
  const roots: Root[] = [
    ...(fs_reach?.read ?? []).map(rootOf('fs_reach.read')),
    ...(fs_reach?.write ?? []).map(rootOf('fs_reach.write')),
  ];
  const coversHome = roots.some(({ standing }) => standing === 'covers');
  const given = roots.filter(
    ({ standing, planted }) => standing !== 'own' && planted === undefined,
  );
  const listOf = (key: Root['key']) =>
    given.filter((root) => root.key === key).map(({ named }) => named);
  // Together, a wide root and a folder of the home would reach more of the home than was named.
  const isHomeClosed = coversHome || !roots.some(({ standing }) => standing === 'named');
  return {
    read: listOf('fs_reach.read'),
    write: listOf('fs_reach.write'),
    deny: [
      ...new Set([
        ...(isHomeClosed ? [top.named, top.real] : []),
        ...(given.length === 0 ? [] : personalityFiles(home, id.split('/'), given)),
      ]),
    ],
    leads: Object.fromEntries(given.map(({ named, real }) => [named, real])),
    problems: roots.flatMap((root) => {
      const message = problemOf(root, { home, coversHome, unread: makers.unread });
      return message === undefined ? [] : [{ key: root.key, entry: root.named, message }];
    }),
    isProvisional: makers.unread.length > 0,
  };
}

function problemOf(
  { named, real, key, standing, planted }: Root,
  { home, coversHome, unread }: { home: string; coversHome: boolean; unread: readonly string[] },
): string | undefined {
  if (planted !== undefined && unread.length > 0) {
    return `${named} passes through the link ${planted}, which a tool of ${unread.join(', ')} may have made, so it gives no reach until that personality can be read; repair its file, or name the folder that is meant`;
  }
  if (planted !== undefined) {
    return `${named} passes through the link ${planted}, which a tool may have made and which leads out of what it may write, so it gives no reach; name the folder that is meant`;
  }
  if (real === parse(real).root) {
    const may = key === 'fs_reach.write' ? 'write' : 'read';
    return `${named} is the whole machine: tools may ${may} every file that the user of this process may, less the home of the runtime and the deny floor; name the folders that are meant`;
  }
  if (standing === 'covers') {
    return `${named} holds the home of the runtime, ${home}, so nothing in the home is reached; name narrower folders, or move the home out of it`;
  }
  if (standing === 'own') {
    return `${named} is the runtime's own and gives no reach; name another folder, such as ${join(home, 'notes')}`;
  }
  if (standing === 'named' && coversHome) {
    return `${named} is in the home, which another entry holds as a whole, so it gives no reach; name narrower folders instead of that entry`;
  }
  return undefined;
}

/**
 * The files that say what personalities may do and what they remember. The home, its folders and
 * its files may be links, so the places that they lead to are listed as well.
 */
function personalityFiles(home: string, ids: string[], roots: readonly Root[]): string[] {
  const folder = join(home, 'personalities');
  const real = realLocation(folder);
  const isAround = roots.some((root) => isWithin(real, root.real));
  // Somebody who may write in its folder could create a personality that does not exist yet.
  const added = roots.flatMap((root) => {
    if (root.real === real || !isWithin(root.real, real)) return [];
    return relative(real, root.real).split(sep).slice(0, 1);
  });
  const files = [...ids, ...entriesOf(folder), ...added].flatMap((name) =>
    ['config.yaml', 'memory.md', 'memory.md.versions'].flatMap((file) => {
      const path = join(folder, name, file);
      return [path, realLocation(path)];
    }),
  );
  return [...(isAround ? [folder, real] : []), ...files];
}

function entriesOf(personalities: string): string[] {
  try {
    return readdirSync(personalities);
  } catch (cause) {
    throw new EthosError(
      'CONFIG_INVALID',
      `fs_reach: ${personalities} can not be listed, so the files of other personalities can not be kept from tools; make it readable for this process`,
      { cause },
    );
  }
}
