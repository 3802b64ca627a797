import { join } from 'node:path';
import type { ProjectFiles } from './project-files.js';
import type { RunCommand } from './runner.js';

/**
 * A Python program that takes modules from the virtual environment in its first argument, if there
 * is one. The interpreter of that environment is in the project, so a tool can't declare it by
 * name. Instead, the declared interpreter runs with the packages of the environment.
 */
export const IN_ENVIRONMENT = `
import os, site, sys
if sys.argv[1]:
    version = f'python{sys.version_info[0]}.{sys.version_info[1]}'
    packages = os.path.join(sys.argv[1], 'lib', version, 'site-packages')
    sys.path.insert(1, packages)
    site.addsitedir(packages)
`;

const RUN_MODULE = `${IN_ENVIRONMENT}
import runpy
module = sys.argv[2]
sys.argv = sys.argv[2:]
runpy.run_module(module, run_name='__main__', alter_sys=True)
`;

/**
 * Returns the ways to run a Python tool: with the packages of the project's virtual environment, by
 * its name, or as a module.
 */
export async function pythonTool(
  files: ProjectFiles,
  root: string,
  { name, args }: { name: string; args: readonly string[] },
): Promise<RunCommand[]> {
  const missing = new RegExp(`No module named '?${name}'?$`);
  const environment = await pythonEnvironment(files, root, name);
  const commands: RunCommand[] = [
    { binary: name, args: [...args], cwd: root },
    { binary: 'python3', args: ['-m', name, ...args], cwd: root, missing },
  ];
  if (environment === undefined) return commands;
  const inEnvironment = ['-c', RUN_MODULE, environment, name, ...args];
  return [{ binary: 'python3', args: inEnvironment, cwd: root, missing }, ...commands];
}

/** Finds the virtual environment of a project that has a module; `undefined` when there is none. */
export async function pythonEnvironment(
  files: ProjectFiles,
  root: string,
  module: string,
): Promise<string | undefined> {
  for (const name of ['.venv', 'venv']) {
    const environment = join(root, name);
    const library = join(environment, 'lib');
    for (const version of (await files.names(library)) ?? []) {
      const packages = await files.names(join(library, version, 'site-packages'));
      if (packages?.has(module)) return environment;
    }
  }
  return undefined;
}
