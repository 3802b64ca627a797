import { join } from 'node:path';
import { EthosError } from '@ethosagent/types';
import { folderOf, problemOfName } from './package-name.js';
import { isTemplate, projectFiles, TEMPLATES, type Template } from './project-files.js';
import { writeProject } from './write-files.js';

/** Asks whoever sits at the terminal. Each gives `undefined` where they want to stop. */
export interface CreateQuestions {
  /** @param choices what each of them is, by its name */
  choose(question: string, choices: Readonly<Record<string, string>>): Promise<string | undefined>;
  /** @param problemOf says what is wrong with an answer, which is then asked for again */
  text(
    question: string,
    options: { preset: string; problemOf: (answer: string) => string | undefined },
  ): Promise<string | undefined>;
}

/** What project to make. */
export interface CreateOptions {
  /** The absolute path of the folder that gets the new one. */
  cwd: string;
  /** The name of the package; the new folder has it too, without the scope. */
  name?: string | undefined;
  /** `agent`, `tool`, `mcp-server` or `plugin`. */
  template?: string | undefined;
  /** Asks for what is not given. Without it, an agent is made, and its name is `my-` and the template. */
  questions?: CreateQuestions | undefined;
}

/** What was made. */
export interface CreatedProject {
  /** The name of the new folder. */
  folder: string;
  /** The files in it, by their paths in it. */
  files: readonly string[];
}

/**
 * Makes a project in a new folder.
 *
 * @param options the template and the name, or the `questions` to ask for them; `cwd`: where the
 * folder is made
 * @returns the folder and its files
 * @throws `CONFIG_INVALID` where nothing was written: the name or the template can't be used, a
 * question was not answered, or something has the name of the folder. The message says what to do.
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
 * The commands that come next, in the folder that has the new one.
 *
 * @param project as `createProject` gave it
 * @param packageManager whose commands they are
 * @returns one command a line
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

/** The error of a command that can't be done. */
export function invalid(message: string): EthosError {
  return new EthosError('CONFIG_INVALID', message);
}
