import { constants, type Stats } from 'node:fs';
import { lstat, open, readdir, stat as statOf } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { compareCodePoints, isSecretRef } from '@ethosagent/policy';
import { type ErrorCode, EthosError, errorCodeOf } from '@ethosagent/types';
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
  /** The folder of the secrets, absolute. It is made, for the owner alone, when it is needed. */
  dir: string;
}

/** Secrets in files. */
export interface FileSecrets {
  /** @throws `SECRET_NOT_FOUND`, `SECRETS_UNAVAILABLE` */
  get(ref: string): Promise<string>;
  /** Whether there is such a file. It may still be refused. */
  has(ref: string): Promise<boolean>;
  /** Writes a secret, with mode 0600. */
  set(ref: string, value: string): Promise<void>;
  /** Removes a secret; nothing happens when it is absent. */
  delete(ref: string): Promise<void>;
  /** The refs in code point order. */
  list(): Promise<string[]>;
}

/**
 * Secrets as files `<dir>/<ref>`: folders with mode 0700, files with mode 0600.
 *
 * One newline at the end of a file isn't part of the value. A file is refused with
 * `SECRET_NOT_FOUND` when other users may read it or write in its folder, when another user than
 * root owns it, or when a link below `dir` leads to it. What the system refuses is
 * `SECRETS_UNAVAILABLE`. Both errors name the ref, and never a path or a value.
 *
 * @param options `dir`: the folder, absolute
 * @returns the secrets
 */
export function createFileSecrets({ dir }: FileSecretsOptions): FileSecrets {
  const storage = new FsStorage({ maxReadBytes: MAX_SECRET_BYTES });
  const pathOf = (ref: string) => {
    assertSecretRef(ref);
    return join(dir, ref);
  };

  return {
    get: (ref) =>
      guarded(ref, async () => {
        if ((await find(dir, ref)) === undefined) {
          throw secretError(ref, 'no value; store one under this ref in the secrets folder');
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

/** What is at the place of a ref. A link on the way to it is refused. */
async function find(dir: string, ref: string): Promise<Stats | undefined> {
  assertSecretRef(ref);
  return findSecret(dir, ref);
}

/** As `find`, for any name below the folder. */
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

/** Somebody who may write in a folder could replace a secret. */
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

/** The content of a secret's file. @throws `SECRET_NOT_FOUND` for a file that is refused */
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

/** Errors of the system contain paths. They are replaced by what they mean for the ref. */
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
