import { join } from 'node:path';
import { EthosError } from '@ethosagent/types';
import { folderOf, problemOfName } from './package-name.js';
import { isTemplate, projectFiles, TEMPLATES, type Template } from './project-files.js';
import { writeProject } from './write-files.js';

/** Asks the person at the terminal. Each method returns `undefined` if the person wants to stop. */
export interface CreateQuestions {
  /**
   * Asks for one of several choices, and returns its name.
   * @param question the question to show
   * @param choices a description of each choice, by its name
   */
  choose(question: string, choices: Readonly<Record<string, string>>): Promise<string | undefined>;
  /**
   * Asks for a text.
   * @param question the question to show
   * @param options `preset`: the answer if the person enters nothing; `problemOf`: returns what is
   * wrong with an answer, which is then asked for again
   */
  text(
    question: string,
    options: { preset: string; problemOf: (answer: string) => string | undefined },
  ): Promise<string | undefined>;
}

/** The kind, the name and the place of a new project. */
export interface CreateOptions {
  /** The absolute path of the folder in which the project's folder is created. */
  cwd: string;
  /** The name of the package. The project's folder has the same name, without the scope. */
  name?: string | undefined;
  /** The kind of project: `agent`, `tool`, `mcp-server` or `plugin`. */
  template?: string | undefined;
  /**
   * Asks for the template and the name if they are not given. Without it, the template is `agent`
   * and the name is `my-<template>`.
   */
  questions?: CreateQuestions | undefined;
}

/** A project that was created. */
export interface CreatedProject {
  /** The name of the new folder. */
  folder: string;
  /** The paths of the new files, relative to the folder. */
  files: readonly string[];
}

/**
 * Creates a project in a new folder.
 *
 * @param options the template and the name, or the `questions` to ask for them; `cwd`: the folder
 * in which the new folder is created
 * @returns the folder and its files
 * @throws `CONFIG_INVALID` if the name or the template can't be used, a question was not answered,
 * something already has the name of the folder, or a file can't be written. Nothing stays on the
 * disk then, and the message says what to do.
 */
export async function createProject(options: CreateOptions): Promise<CreatedProject> {
  const { cwd, questions } = options;
  const template = await templateOf(options.template, questions);
  const name = await nameOf(options.name, { preset: `my-${template}`, questions });
  const folder = folderOf(name);
  const files = projectFiles(template, name);
  await writeProject(join(cwd, folder), files).catch((error: unknown) => {
    const { code, path } = Object(error);
    if (code === 'EEXIST') {
      throw invalid(`${folder} is there already; take another name, or move it away`);
    }
    throw invalid(`${path ?? folder} could not be written (${code}); nothing is left of it`);
  });
  return { folder, files: Object.keys(files) };
}

/**
 * Returns the commands to run next, in the folder in which the project's folder was created.
 *
 * @param project the result of `createProject`
 * @param packageManager the name of the package manager, such as `pnpm`; `npm` when absent
 * @returns the commands, in their order
 */
export function nextCommands({ folder }: CreatedProject, packageManager = 'npm'): string[] {
  // `bun test` would run Bun's own tests instead of the script.
  const run = ['install', 'start', 'run test'].map((command) => `${packageManager} ${command}`);
  return [`cd ${folder}`, ...run];
}

async function templateOf(
  given: string | undefined,
  questions: CreateQuestions | undefined,
): Promise<Template> {
  const template =
    given ?? (questions ? await questions.choose('What do you want to make?', TEMPLATES) : 'agent');
  if (template === undefined) throw invalid('nothing was written');
  if (isTemplate(template)) return template;
  const names = Object.keys(TEMPLATES).join(', ');
  throw invalid(`there is no template ${JSON.stringify(template)}; take one of ${names}`);
}

async function nameOf(
  given: string | undefined,
  { preset, questions }: { preset: string; questions: CreateQuestions | undefined },
): Promise<string> {
  const ask = () => questions?.text('Name', { preset, problemOf: problemOfName });
  const name = given ?? (questions ? await ask() : preset);
  if (name === undefined) throw invalid('nothing was written');
  const problem = problemOfName(name);
  if (problem === undefined) return name;
  throw invalid(
    `${JSON.stringify(name)} can not be the name of a package: ${problem}. Take one such as ${preset}`,
  );
}

/** Makes the error of a command that can't be done. */
export function invalid(message: string): EthosError {
  return new EthosError('CONFIG_INVALID', message);
}
