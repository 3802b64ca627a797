import { mkdir, open, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Writes new files. If it fails, it removes all of them, and the folders that it created for them.
 *
 * @param folder absolute; must exist
 * @param files the texts, by their paths in the folder
 * @throws `EEXIST` if a file, a folder or a link already has the name of one of the files
 */
export async function writeFiles(
  folder: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  const made: string[] = [];
  try {
    for (const [name, text] of Object.entries(files)) {
      const path = join(folder, name);
      // The home decides what runs. It is refused if other users may write it.
      const isOwn = name.startsWith('.ethos/');
      const first = await mkdir(dirname(path), { recursive: true, ...(isOwn && { mode: 0o700 }) });
      if (first !== undefined) made.push(first);
      const file = await open(path, 'wx', isOwn ? 0o600 : undefined);
      made.push(path);
      await file.writeFile(text).finally(() => file.close());
    }
  } catch (error) {
    for (const path of made) await rm(path, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Writes files into a folder that it creates. If it fails, it leaves nothing behind.
 *
 * @param folder absolute; its parent must exist
 * @throws `EEXIST` if a folder, a file or a link already has this name
 */
export async function writeProject(
  folder: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  await mkdir(folder);
  try {
    await writeFiles(folder, files);
  } catch (error) {
    await rmdir(folder);
    throw error;
  }
}
