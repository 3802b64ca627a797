import { basename, dirname, join, resolve } from 'node:path';
import {
  type CreateQuestions,
  createProject,
  type HomeAnswers,
  nextCommands,
  writeHome,
} from '@ethosagent/create';
import { usageError } from '../cli-error.js';
import type { CommandContext } from '../command-context.js';
import { type CommandInput, hasOption, textOption } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';

const DEFAULTS: HomeAnswers = { id: 'assistant', folder: 'workspace', commands: false };
const ID = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const FOLDER = /^[A-Za-z0-9_][A-Za-z0-9_.-]*(\/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$/;
const PACKAGES = [
  '@ethosagent/cli',
  '@ethosagent/plugin-sdk',
  '@ethosagent/wiring',
  '@ethosagent/tools-file',
  '@ethosagent/tools-terminal',
  'zod',
];

/**
 * Adds a home, a personality, a tool and its test to the project in this folder. With a name or a
 * template, creates a project in a new folder. Never overwrites a file.
 */
export async function run(input: CommandInput): Promise<number> {
  const { context, options, args } = input;
  const { out } = context;
  if (args[0] !== undefined || textOption(options, 'template') !== undefined) return create(input);
  const project = projectOf(context);
  const answers =
    hasOption(options, 'yes') || context.io.ask === undefined ? DEFAULTS : await ask(context);
  const files = await writeHome(project, answers);
  if (out.isJson) out.json({ project, files });
  else {
    for (const name of files) out.line(`wrote ${name}`);
    out.line();
    out.line('Next:');
    out.line(`  npm install ${PACKAGES.join(' ')}`);
    out.line('  npx ethosagent check');
    out.line(`  npx ethosagent call count_words '{"path":"${answers.folder}/hello.txt"}'`);
    out.line('  node --test tools/count-words.test.mjs');
  }
  return EXIT.ok;
}

/** Creates a project in a new folder, as `npm create @ethosagent` does. */
async function create({ context, args, options }: CommandInput): Promise<number> {
  const { io, out, namedHome } = context;
  if (namedHome !== undefined) {
    throw usageError('--home: a new project has its home in its own folder; leave --home out');
  }
  const project = await createProject({
    cwd: io.cwd,
    name: args[0],
    template: textOption(options, 'template'),
    ...(!hasOption(options, 'yes') && io.ask && { questions: questionsOf(context) }),
  });
  const { folder, files } = project;
  if (out.isJson) out.json({ project: join(io.cwd, folder), files });
  else {
    for (const name of files) out.line(`wrote ${folder}/${name}`);
    out.line();
    out.line('Next:');
    for (const command of nextCommands(project)) out.line(`  ${command}`);
  }
  return EXIT.ok;
}

function questionsOf({ io }: CommandContext): CreateQuestions {
  return {
    choose: async (question, choices) => {
      const answer = await io.ask?.(`${question} ${Object.keys(choices).join(', ')} (agent)`);
      return answer?.trim() === '' ? 'agent' : answer?.trim();
    },
    text: async (question, { preset, problemOf }) => {
      for (;;) {
        const answer = await io.ask?.(`${question} (${preset})`);
        if (answer === undefined) return undefined;
        const value = answer.trim() === '' ? preset : answer.trim();
        const problem = problemOf(value);
        if (problem === undefined) return value;
        io.err(`${problem}\n`);
      }
    },
  };
}

/** The folder that contains the home. The home must have the name that commands look for. */
function projectOf({ io, namedHome }: CommandContext): string {
  if (namedHome === undefined) return io.cwd;
  const home = resolve(io.cwd, namedHome);
  if (basename(home) === '.ethos') return dirname(home);
  throw usageError(
    `--home: the folder of a new home is named .ethos; say --home ${join(namedHome, '.ethos')}`,
  );
}

async function ask({ io }: CommandContext): Promise<HomeAnswers> {
  const text = async (
    question: string,
    { preset, pattern }: { preset: string; pattern: RegExp },
  ): Promise<string> => {
    for (;;) {
      const answer = await io.ask?.(`${question} (${preset})`);
      if (answer === undefined) throw usageError('nothing was written');
      const value = answer.trim() === '' ? preset : answer.trim();
      if (pattern.test(value)) return value;
      io.err(`${JSON.stringify(value)} can not be used: letters, digits, "_" and "-"\n`);
    }
  };
  const id = await text('Name of the personality', { preset: DEFAULTS.id, pattern: ID });
  const folder = await text('Folder that its tools work in', {
    preset: DEFAULTS.folder,
    pattern: FOLDER,
  });
  const commands = await text('May it run commands, in a sandbox? yes or no', {
    preset: 'no',
    pattern: /^(yes|no|y|n)$/i,
  });
  return { id, folder, commands: /^y/i.test(commands) };
}
