import { randomBytes } from 'node:crypto';
import { link, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findSecret, readSecret } from './file-secrets.js';
import { FsStorage } from './fs-storage.js';
import { temporaryName } from './temp-files.js';

const KEY_BYTES = 32;

/** A key in the folder of the secrets. */
export interface FileKey {
  /** The key: 64 hexadecimal digits. */
  key: string;
  /** Whether this call made the key. */
  isNew: boolean;
}

/**
 * Reads the key in the file `<dir>/~<name>.key`, and makes it if there is none. Only the owner may
 * read the file. If several processes do this at once, one makes the key and all get the same one.
 * No ref can have such a name, so no tool can get the key as a secret.
 *
 * @param options `dir`: the absolute path of the folder of the secrets; `name`: the name of the key
 * @returns the key, and whether this call made it
 * @throws `SECRET_NOT_FOUND` if the file or its folder does not meet the rules for secrets, e.g. if
 * other users may read it
 * @throws errors of the operating system
 */
export async function openFileKey({ dir, name }: { dir: string; name: string }): Promise<FileKey> {
  const file = fileOf(name);
  const path = join(dir, file);
  const known = await readFileKey({ dir, name });
  if (known !== undefined) return { key: known, isNew: false };
  await new FsStorage().mkdir(dir, { mode: 0o700 });
  // Somebody who may write in the folder could put another key there.
  await findSecret(dir, file);
  const isNew = await makeKey(path, join(dir, temporaryName()));
  await findSecret(dir, file);
  return { key: await readSecret(file, path), isNew };
}

/**
 * Reads the key that `openFileKey` made.
 *
 * @param options `dir`: the absolute path of the folder of the secrets; `name`: the name of the key
 * @returns the key, 64 hexadecimal digits; `undefined` if there is none
 * @throws the same errors as `openFileKey`
 */
export async function readFileKey({
  dir,
  name,
}: {
  dir: string;
  name: string;
}): Promise<string | undefined> {
  const file = fileOf(name);
  const found = await findSecret(dir, file);
  return found === undefined ? undefined : readSecret(file, join(dir, file));
}

function fileOf(name: string): string {
  return `~${name}.key`;
}

/**
 * Makes the file of a key. The file gets its name only when it is complete. If several are made at
 * once, only one gets the name.
 */
async function makeKey(path: string, temporary: string): Promise<boolean> {
  const made = await open(temporary, 'wx', 0o600);
  try {
    await made.writeFile(`${randomBytes(KEY_BYTES).toString('hex')}\n`);
    await made.sync();
    await link(temporary, path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    await made.close();
    await rm(temporary, { force: true });
  }
}
