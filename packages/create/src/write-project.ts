import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

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
    for (const [name, text] of Object.entries(files)) {
      const path = join(folder, name);
      // The home says what runs, and is refused where others may write it.
      const isOwn = name.startsWith('.ethos/');
      await mkdir(dirname(path), { recursive: true, ...(isOwn && { mode: 0o700 }) });
      await writeFile(path, text, { flag: 'wx', ...(isOwn && { mode: 0o600 }) });
    }
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}
