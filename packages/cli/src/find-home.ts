import { type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { assertOwn } from './assert-own.js';
import { usageError } from './cli-error.js';
import type { CliIo } from './cli-io.js';

const NAME = '.ethos';

/**
 * Finds the home of a command: `--home`, otherwise `ETHOS_HOME`, otherwise the nearest `.ethos` in
 * the working directory or a folder above it.
 *
 * @returns its absolute path
 * @throws `CONFIG_INVALID` if there is no home, or if another user could have written it: the home
 * decides what runs
 */
export function findHome({ cwd, env }: Pick<CliIo, 'cwd' | 'env'>, given?: string): string {
  const named = given ?? env.ETHOS_HOME;
  if (named !== undefined && named !== '') {
    const home = resolve(cwd, named);
    const stat = statOf(home);
    if (stat === undefined) {
      const what = given === undefined ? 'ETHOS_HOME' : '--home';
      throw usageError(
        `${what}: ${home} is not a folder; name the home of an agent, or make one with "ethosagent init --home ${named}"`,
      );
    }
    assertOwn(home, stat);
    return home;
  }
  for (let folder = cwd; ; folder = dirname(folder)) {
    const home = join(folder, NAME);
    const stat = statOf(home);
    if (stat !== undefined) {
      assertOwn(home, stat);
      return home;
    }
    if (dirname(folder) === folder) break;
  }
  throw usageError(
    `there is no ${NAME} in ${cwd} or a folder above it; make one with "ethosagent init", or name a home with --home`,
  );
}

function statOf(path: string): Stats | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() === true ? stat : undefined;
}
