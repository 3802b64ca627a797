import { EthosError } from '@ethosagent/types';
import { type HomeAnswers, homeFiles } from './home-files.js';
import { writeFiles } from './write-files.js';

/**
 * Writes a home, a personality, a tool and its test into a project that is there already.
 *
 * @param project the absolute path of its folder
 * @param answers the names of the personality and of the tool
 * @returns the files, by their paths in the project
 * @throws `CONFIG_INVALID` where something has the name of one of the files, or one can't be written; then
 *   nothing was written
 */
export async function writeHome(project: string, answers: HomeAnswers): Promise<string[]> {
  const files = homeFiles(answers);
  await writeFiles(project, files).catch((error: unknown) => {
    const { code, path = project } = Object(error);
    throw new EthosError(
      'CONFIG_INVALID',
      code === 'EEXIST'
        ? `${path} is there already, so nothing was written; remove it, or name another home`
        : `${path} could not be written (${code}); nothing is left of it`,
    );
  });
  return Object.keys(files);
}
