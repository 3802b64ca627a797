import { parseArgs } from 'node:util';
import { errorCodeOf } from '@ethosagent/types';
import { type CreateQuestions, createProject, invalid, nextCommands } from './create-project.js';
import { TEMPLATES } from './project-files.js';
import { ownVersion } from './read-template.js';

/** The parts of the process that `create` uses. */
export interface CreateIo {
  /** The absolute path of the folder in which the new folder is created. */
  cwd: string;
  out(text: string): void;
  err(text: string): void;
  /** Asks for what the command line does not say. Absent if there is no terminal. */
  questions?: CreateQuestions | undefined;
  /** The name of the package manager, such as `pnpm/12.21.0 npm/? node/v20.19.0`. */
  userAgent?: string | undefined;
}

const USAGE = `npm create @ethosagent@latest [name] -- [--template <template>] [--yes]

Writes a project into a new folder. Asks for what is not given.

${Object.entries(TEMPLATES)
  .map(([name, about]) => `  --template ${name.padEnd(11)} ${about}`)
  .join('\n')}
  --yes                  ask nothing: an agent, where no template is given
  --help                 show this
  --version              show the version
`;

/**
 * Runs `npm create @ethosagent`.
 *
 * @param argv the words after the name of the command
 * @returns the exit code: 0 for success, 2 for a failure after which nothing was written
 */
export async function runCreate(argv: readonly string[], io: CreateIo): Promise<number> {
  const { cwd, userAgent = '' } = io;
  try {
    const { values, positionals } = parse(argv);
    if (values.help === true) io.out(USAGE);
    else if (values.version === true) io.out(`${ownVersion()}\n`);
    else {
      const [name, ...more] = positionals;
      if (more.length > 0) throw invalid(`one name is enough: leave ${more.join(' ')} out`);
      const questions = values.yes === true ? undefined : io.questions;
      const project = await createProject({ cwd, name, template: values.template, questions });
      for (const path of project.files) io.out(`wrote ${project.folder}/${path}\n`);
      const commands = nextCommands(project, /^(pnpm|yarn|bun)\//.exec(userAgent)?.[1]);
      io.out(`\nNext:\n${commands.map((line) => `  ${line}\n`).join('')}`);
    }
    return 0;
  } catch (error) {
    if (errorCodeOf(error) !== 'CONFIG_INVALID') throw error;
    io.err(`error: ${Object(error).message.replace(/^CONFIG_INVALID: /, '')}\n`);
    return 2;
  }
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        template: { type: 'string' },
        yes: { type: 'boolean' },
        help: { type: 'boolean' },
        version: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw invalid(`${Object(error).message}\n\n${USAGE}`);
  }
}
