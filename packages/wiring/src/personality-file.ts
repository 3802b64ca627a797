import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { assertOptions, nearestName, type OptionNames } from '@ethosagent/policy';
import { EthosError, type PersonalityConfig } from '@ethosagent/types';
import { loadLibraries } from './libraries.js';
import type { PathVariables } from './substitute.js';

/** The folders of personalities and of their path variables. */
export interface PersonalityOptions {
  /**
   * The absolute path of the folder that holds `personalities/`. `${ETHOS_HOME}` also stands for
   * it.
   */
  home: string;
  /** The absolute path that `${CWD}` stands for. When absent, entries with `${CWD}` are refused. */
  cwd?: string;
}

/** The text of a file, and its version. */
export interface PersonalityText {
  text: string;
  version: string;
  /** When the file last changed, in milliseconds since the epoch. */
  changedAtMs: number;
}

const MAX_BYTES = 256 * 1024;
/** How many existing personalities are listed if a named one does not exist. */
const MAX_TOLD = 20;
const ID = /^[a-z0-9][a-z0-9_-]{0,63}$/u;

/** Whether a text can be the id of a personality: `a-z`, `0-9`, `_`, `-`; 64 characters at most. */
export function isPersonalityId(id: string): boolean {
  return typeof id === 'string' && ID.test(id);
}

/**
 * Returns the path of a personality's file, `<home>/personalities/<id>/config.yaml`.
 *
 * @param home the absolute path of the home, as for `createToolRuntime`
 * @param id the id of the personality
 * @returns the path
 * @throws `CONFIG_INVALID` if the id is malformed or the home is not an absolute path
 */
export function personalityConfigPath(home: string, id: string): string {
  return join(personalityFolder(home, id), 'config.yaml');
}

/** The names that every function with these options takes. */
export const PERSONALITY_OPTIONS: OptionNames<PersonalityOptions> = { home: true, cwd: true };

/**
 * Reads and checks the file of one personality once. To follow its changes, use
 * `createPersonalityStore`.
 *
 * @param options `home` and `cwd`, absolute, and the `id`
 * @returns the config, deeply frozen, with absolute paths in `fs_reach`
 * @throws `CONFIG_INVALID` with every problem on a line of its own, as `file:line:column: …`
 * @example
 * ```ts
 * const coder = await loadPersonality({ home: '/home/x/.ethos', id: 'coder', cwd: '/home/x/repo' });
 * ```
 */
export async function loadPersonality(
  options: PersonalityOptions & { id: string },
): Promise<PersonalityConfig> {
  assertOptions('loadPersonality', options, { ...PERSONALITY_OPTIONS, id: true });
  const { parsePersonality } = await loadParser();
  const { file, text } = readPersonalityText(options.home, options.id);
  return parsePersonality(text, {
    file,
    id: options.id,
    variables: pathVariables(options, options.id),
  });
}

/** The parser. It loads Zod and the YAML library, so it is loaded at its first use. */
export async function loadParser(): Promise<typeof import('./personality-parse.js')> {
  await loadLibraries();
  return import('./personality-parse.js');
}

/** The values of the path variables in the file of a personality. */
export function pathVariables(options: PersonalityOptions, id: string): PathVariables {
  const { home, cwd } = options;
  return { ETHOS_HOME: home, self: personalityFolder(home, id), CWD: cwd };
}

/** Whether an error of `node:fs` says that nothing exists at the path. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** The present version of a file, or `undefined` if there is no file that can be read. */
export function versionOf(file: string): string | undefined {
  try {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
    return stats && versionOfStats(stats);
  } catch {
    return undefined;
  }
}

/**
 * Reads a personality's file. A symbolic link is followed, since the folder belongs to the
 * operator.
 *
 * @throws `CONFIG_INVALID` if it is not a regular file of UTF-8 text with at most 256 KB; if there
 * is none, the error lists the existing ids
 */
export function readPersonalityText(home: string, id: string): PersonalityText & { file: string } {
  const file = personalityConfigPath(home, id);
  let descriptor: number;
  try {
    // Non-blocking: otherwise a FIFO would block the process before its type is known.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (cause) {
    if (!isMissing(cause)) {
      const code: unknown = Object(cause).code;
      throw invalid(file, `can not be opened (${String(code)}); let this user read it`, cause);
    }
    const { ids, told } = existingPersonalities(home, id);
    const remedy =
      ids?.length === 0 ? ', so write that file, or make a home with "ethosagent init"' : '';
    throw invalid(file, `there is no such file; ${told}${remedy}`, cause);
  }
  try {
    const stats = fstatSync(descriptor, { bigint: true });
    if (!stats.isFile()) throw invalid(file, 'is not a regular file; put the file itself there');
    if (stats.size > MAX_BYTES) throw invalid(file, 'is larger than 256 KB; make it shorter');
    return {
      file,
      text: decode(file, readFileSync(descriptor)),
      version: versionOfStats(stats),
      changedAtMs: Number(stats.ctimeMs),
    };
  } finally {
    closeSync(descriptor);
  }
}

/** @throws `CONFIG_INVALID` if the home is not an absolute path */
export function assertHome(home: string): void {
  if (typeof home !== 'string' || !isAbsolute(home)) {
    throw new EthosError('CONFIG_INVALID', 'home: must be an absolute path');
  }
}

function personalityFolder(home: string, id: string): string {
  assertHome(home);
  if (!isPersonalityId(id)) {
    throw new EthosError(
      'CONFIG_INVALID',
      `personality id: must be 1 to 64 of a-z, 0-9, "_" and "-", starting with a letter or digit; ${existingPersonalities(home, String(id)).told}`,
    );
  }
  return join(home, 'personalities', id);
}

/**
 * The sorted ids of the personalities of a home that have a file, valid or not; `undefined` if they
 * can't be listed.
 */
function existingIds(home: string): string[] | undefined {
  const folder = join(home, 'personalities');
  try {
    const ids = readdirSync(folder).filter(isPersonalityId).sort();
    return ids.filter((id) => versionOf(join(folder, id, 'config.yaml')) !== undefined);
  } catch (error) {
    return isMissing(error) ? [] : undefined;
  }
}

/** The existing personalities, as a list and as a text for an error. */
export function existingPersonalities(
  home: string,
  id: string,
): { ids: string[] | undefined; told: string } {
  const ids = existingIds(home);
  if (ids === undefined) {
    const folder = join(home, 'personalities');
    return { ids, told: `${folder} can not be listed; make it a readable folder` };
  }
  if (ids.length === 0) return { ids, told: 'this home has no personality yet' };
  const near = nearestName(id, ids);
  const first = ids.slice(0, MAX_TOLD).join(', ');
  const all = ids.length > MAX_TOLD ? `${first}, … (${ids.length} in all)` : first;
  const list = `personalities of this home: ${all}`;
  return { ids, told: near === undefined ? `the ${list}` : `did you mean "${near}"? The ${list}` };
}

/**
 * Includes the change time, which the kernel sets. The time of modification can be set by `touch`
 * or a copy.
 */
function versionOfStats(stats: { dev: bigint; ino: bigint; size: bigint; ctimeNs: bigint }) {
  return `${stats.dev}:${stats.ino}:${stats.size}:${stats.ctimeNs}`;
}

function decode(file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalid(file, 'is not UTF-8 text; save it as UTF-8', cause);
  }
}

function invalid(file: string, what: string, cause?: unknown): EthosError {
  return new EthosError('CONFIG_INVALID', `${file}: ${what}`, { cause });
}
