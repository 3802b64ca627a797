import { EthosError } from '@ethosagent/types';
import { type HomeAnswers, homeFiles } from './home-files.js';
import { writeFiles } from './write-files.js';

/**
 * Writes a home, a personality, a tool and its test into an existing project.
 *
 * @param project the absolute path of the project's folder
 * @param answers the personality of the home
 * @returns the paths of the new files, relative to the project
 * @throws `CONFIG_INVALID` if something already has the name of one of the files, or a file can't
 * be written; nothing stays on the disk then
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
