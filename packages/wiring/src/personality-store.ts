import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { assertOptions } from '@ethosagent/policy';
import { EthosError, errorCodeOf, type PersonalityConfig } from '@ethosagent/types';
import {
  assertHome,
  isMissing,
  isPersonalityId,
  loadParser,
  PERSONALITY_OPTIONS,
  type PersonalityOptions,
  type PersonalityText,
  pathVariables,
  personalityConfigPath,
  readPersonalityText,
  versionOf,
} from './personality-file.js';

/** The personalities of a home. Each method reads the files as they are when it is called. */
export interface PersonalityStore {
  /**
   * Returns the config of a personality, deeply frozen. While the file is unchanged, it is the same
   * object.
   * @throws `CONFIG_INVALID` if the file is missing or invalid now, even if it was valid before
   */
  get(id: string): Promise<PersonalityConfig>;
  /**
   * Returns the same without waiting. `undefined` if `get` would refuse, and before the first `get`
   * has settled.
   */
  peek(id: string): PersonalityConfig | undefined;
  /**
   * Lists the ids on disk, sorted, even if their files are invalid.
   * @throws `CONFIG_INVALID` if the folder can't be read
   */
  list(): Promise<string[]>;
}

/**
 * For this long, a file may change again and still look the same: the coarsest clock of a file
 * system (2 s), and a margin.
 */
const UNSETTLED_MS = 2_500;

interface Entry extends PersonalityText {
  settled: boolean;
  outcome: { config: PersonalityConfig } | { error: unknown };
}

/**
 * Follows the files of all personalities of a home. Each question costs one `stat`. A file that
 * changed is read again.
 *
 * @param options `home` and `cwd` as for `loadPersonality`; `now` is the clock, in milliseconds
 * since the epoch
 * @returns the store
 * @throws `CONFIG_INVALID` when the home is not an absolute path
 * @example
 * ```ts
 * const store = createPersonalityStore({ home: '/home/x/.ethos', cwd: '/home/x/repo' });
 * const coder = await store.get('coder');
 * ```
 */
export function createPersonalityStore(
  options: PersonalityOptions & { now?: () => number },
): PersonalityStore {
  assertOptions('createPersonalityStore', options, { ...PERSONALITY_OPTIONS, now: true });
  const { home, now = Date.now } = options;
  assertHome(home);
  const entries = new Map<string, Entry>();
  let parser: Awaited<ReturnType<typeof loadParser>> | undefined;

  // Synchronous from reading the file to storing the entry, so that two calls can't interleave.
  function current({ parsePersonality }: NonNullable<typeof parser>, id: string) {
    const file = personalityConfigPath(home, id);
    let entry = entries.get(id);
    if (!entry?.settled || entry.version !== versionOf(file)) {
      const known = entry;
      entries.delete(id);
      const read = readPersonalityText(home, id);
      entry = {
        ...read,
        settled: now() - read.changedAtMs > UNSETTLED_MS,
        outcome:
          known?.text === read.text
            ? known.outcome
            : outcomeOf(() =>
                parsePersonality(read.text, { file, id, variables: pathVariables(options, id) }),
              ),
      };
      entries.set(id, entry);
    }
    if ('error' in entry.outcome) throw entry.outcome.error;
    return entry.outcome.config;
  }

  return {
    async get(id) {
      parser ??= await loadParser();
      return current(parser, id);
    },
    peek(id) {
      if (!parser) return undefined;
      try {
        return current(parser, id);
      } catch (error) {
        if (errorCodeOf(error) === 'CONFIG_INVALID') return undefined;
        throw error;
      }
    },
    async list() {
      const folder = join(home, 'personalities');
      const names = await readdir(folder).catch((cause: unknown) => {
        if (isMissing(cause)) return [];
        throw new EthosError(
          'CONFIG_INVALID',
          `${folder}: can not be read; make it a folder that this user may read`,
          { cause },
        );
      });
      const ids = names.filter(isPersonalityId).sort();
      const present = await Promise.all(ids.map((id) => isFile(personalityConfigPath(home, id))));
      return ids.filter((_, index) => present[index]);
    },
  };
}

function outcomeOf(parse: () => PersonalityConfig): Entry['outcome'] {
  try {
    return { config: parse() };
  } catch (error) {
    return { error };
  }
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
}
