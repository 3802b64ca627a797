import { mkdir, open, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Writes new files. A failure leaves none of them behind, and no folder that was made for them.
 *
 * @param folder absolute; it is there
 * @param files the texts, by their paths in the folder
 * @throws `EEXIST` where something has the name of a file: a file, a folder, or a link, wherever it
 *   leads
 */
export async function writeFiles(
  folder: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  const made: string[] = [];
  try {
    for (const [name, text] of Object.entries(files)) {
      const path = join(folder, name);
      // The home says what runs, and is refused where others may write it.
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
 * Writes files into a folder that it makes. A failure leaves nothing behind.
 *
 * @param folder absolute; its parent is there
 * @throws `EEXIST` where something has this name: a folder, a file, or a link, wherever it leads
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
