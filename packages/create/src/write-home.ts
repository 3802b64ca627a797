import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EthosError } from '@ethosagent/types';
import { type HomeAnswers, homeFiles } from './home-files.js';

/**
 * Writes a home, a personality, a tool and its test into a project that is there already.
 *
 * @param project the absolute path of its folder
 * @returns the files, by their paths in the project
 * @throws `CONFIG_INVALID` where one of the files is there already; then nothing was written
 */
export async function writeHome(project: string, answers: HomeAnswers): Promise<string[]> {
  const files = Object.entries(homeFiles(answers));
  const taken = files.map(([name]) => join(project, name)).find((path) => existsSync(path));
  if (taken !== undefined) {
    throw new EthosError(
      'CONFIG_INVALID',
      `${taken} is there already, so nothing was written; remove it, or name another home`,
    );
  }
  for (const [name, text] of files) {
    const path = join(project, name);
    // The home says what runs, and is refused where others may write it.
    const isOwn = name.startsWith('.ethos/');
    await mkdir(dirname(path), { recursive: true, ...(isOwn && { mode: 0o700 }) });
    await writeFile(path, text, { flag: 'wx', ...(isOwn && { mode: 0o600 }) });
  }
  return files.map(([name]) => name);
}
