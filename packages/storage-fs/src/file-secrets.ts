import { constants, type Stats } from 'node:fs';
import { lstat, open, readdir, stat as statOf } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import {
  assertOptions,
  compareCodePoints,
  isSecretRef,
  type OptionNames,
} from '@ethosagent/policy';
import { type ErrorCode, EthosError, errorCodeOf } from '@ethosagent/types';
import { assertFolder } from './assert-folder.js';
import { isMissing, storageError } from './errno.js';
import { FsStorage } from './fs-storage.js';
import { assertSecretRef, secretError } from './secret-error.js';
import { isTemporaryName } from './temp-files.js';

const MAX_SECRET_BYTES = 1_000_000;
const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;
const ADVICE: Partial<Record<ErrorCode, string>> = {
  DISK_FULL: 'free some space and try again',
  READ_ONLY: 'its file system is read-only',
  STORAGE_FAILED: 'try again, and check the disk if it fails again',
};

/** Options of `createFileSecrets`. */
export interface FileSecretsOptions {
  /**
   * The absolute path of the folder. It is created when it is needed; only its owner may use it.
   */
  dir: string;
}

/**
 * Secrets in files. Each method also throws `SECRET_NOT_FOUND` for a malformed ref, and
 * `SECRETS_UNAVAILABLE` for an error of the operating system.
 */
export interface FileSecrets {
  /**
   * Returns the value of a secret.
   * @throws `SECRET_NOT_FOUND` if there is no file, or the file is refused; `SECRETS_UNAVAILABLE`
   * for an error of the operating system
   */
  get(ref: string): Promise<string>;
  /** Whether there is a file for the ref. `get` may still refuse it. */
  has(ref: string): Promise<boolean>;
  /** Writes a secret, with mode 0600. */
  set(ref: string, value: string): Promise<void>;
  /** Removes a secret. Does nothing if it is absent. */
  delete(ref: string): Promise<void>;
  /** Returns the refs in code point order. */
  list(): Promise<string[]>;
}

const OPTIONS: OptionNames<FileSecretsOptions> = {
  dir: true,
};

/**
 * Keeps secrets as files `<dir>/<ref>`: folders with mode 0700, files with mode 0600.
 *
 * One newline at the end of a file isn't part of the value. `get` refuses a file with
 * `SECRET_NOT_FOUND` if other users may read it or write in its folder, if its owner is neither
 * this user nor root, or if a link below `dir` leads to it. Errors of the operating system become
 * `SECRETS_UNAVAILABLE`. Both errors name the ref, and never a path or a value.
 *
 * @param options `dir`: the absolute path of the folder
 * @returns the secrets
 * @throws `CONFIG_INVALID` if `dir` is not an absolute path
 */
export function createFileSecrets(options: FileSecretsOptions): FileSecrets {
  assertOptions('createFileSecrets', options, OPTIONS);
  const { dir } = options;
  assertFolder('createFileSecrets', dir);
  const storage = new FsStorage({ maxReadBytes: MAX_SECRET_BYTES });
  const pathOf = (ref: string) => {
    assertSecretRef(ref);
    return join(dir, ref);
  };

  return {
    get: (ref) =>
      guarded(ref, async () => {
        if ((await find(dir, ref)) === undefined) {
          throw secretError(
            ref,
            `no value; store one with "ethosagent secrets set ${ref}", or as that file in the secrets folder`,
          );
        }
        return readSecret(ref, pathOf(ref));
      }),
    has: (ref) => guarded(ref, async () => (await find(dir, ref))?.isFile() === true),
    set: (ref, value) =>
      guarded(ref, async () => {
        const path = pathOf(ref);
        await find(dir, ref);
        await storage.mkdir(dirname(path), { mode: 0o700 });
        // A line break is added, because reading removes one: a value may end with a line break.
        await storage.write(path, `${value}\n`, { mode: 0o600 });
      }),
    delete: (ref) =>
      guarded(ref, async () => {
        if ((await find(dir, ref)) !== undefined) await storage.remove(pathOf(ref));
      }),
    list: () => guarded('the list of refs', () => listRefs(dir)),
  };
}

/** Returns the facts of the file at the place of a ref. A link on the way to it is refused. */
async function find(dir: string, ref: string): Promise<Stats | undefined> {
  assertSecretRef(ref);
  return findSecret(dir, ref);
}

/** Does the same as `find`, for any name below the folder. */
export async function findSecret(dir: string, ref: string): Promise<Stats | undefined> {
  let path = dir;
  // The folder itself may be named through a link.
  let stat = await statOf(dir).catch(nothingIfMissing);
  for (const segment of ref.split('/')) {
    if (stat !== undefined) assertOwnFolder(ref, stat);
    path = join(path, segment);
    stat = await lstat(path).catch(nothingIfMissing);
    if (stat === undefined) return undefined;
    if (stat.isSymbolicLink()) {
      throw secretError(ref, 'its file is reached through a link; put the file itself there');
    }
  }
  return stat;
}

/** Refuses a folder in which other users may write, since they could replace a secret. */
function assertOwnFolder(ref: string, stat: Stats): void {
  if (process.platform === 'win32' || !stat.isDirectory()) return;
  assertOwner(ref, stat);
  if ((stat.mode & OTHERS_WRITE) !== 0) {
    throw secretError(ref, 'other users may write in its folder; take that away (chmod 700)');
  }
}

function assertOwner(ref: string, { uid }: Stats): void {
  // Root can change every file without owning it.
  if (uid === 0 || uid === process.geteuid?.()) return;
  throw secretError(ref, 'it or its folder belongs to another user; make it your own (chown)');
}

async function listRefs(dir: string): Promise<string[]> {
  const options = { recursive: true, withFileTypes: true } as const;
  const entries = (await readdir(dir, options).catch(nothingIfMissing)) ?? [];
  return entries
    .filter((entry) => entry.isFile() && !isTemporaryName(entry.name))
    .map((entry) => relative(dir, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter(isSecretRef)
    .sort(compareCodePoints);
}

function nothingIfMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

/**
 * Reads the file of a secret.
 * @throws `SECRET_NOT_FOUND` for a file that is refused
 */
export async function readSecret(ref: string, path: string): Promise<string> {
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);
  const file = await open(path, flags);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw secretError(ref, 'there is something else than a file');
    if (stat.size > MAX_SECRET_BYTES) throw secretError(ref, 'its file is too large for a secret');
    // Windows has no such bits, and reports them as set.
    if (process.platform !== 'win32') assertOwner(ref, stat);
    if (process.platform !== 'win32' && (stat.mode & OTHERS) !== 0) {
      throw secretError(ref, 'other users may read its file; take that away (chmod 600)');
    }
    return (await file.readFile('utf8')).replace(/\r?\n$/, '');
  } finally {
    await file.close();
  }
}

/** Replaces errors of the system, which contain paths, by what they mean for the ref. */
async function guarded<T>(ref: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (error instanceof EthosError && error.code === 'SECRET_NOT_FOUND') throw error;
    const code = errorCodeOf(storageError(error, 'read', ref)) ?? 'STORAGE_FAILED';
    const advice = ADVICE[code] ?? 'check its owner and mode';
    throw new EthosError(
      'SECRETS_UNAVAILABLE',
      `${ref}: the secrets folder failed (${code}); ${advice}`,
      { cause: error },
    );
  }
}
