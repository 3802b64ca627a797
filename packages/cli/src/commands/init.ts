import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { usageError } from '../cli-error.js';
import type { CommandContext } from '../command-context.js';
import { type CommandInput, hasOption } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { type InitAnswers, initFiles } from '../templates.js';

const DEFAULTS: InitAnswers = { id: 'assistant', folder: 'workspace', commands: false };
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

/** Writes a home, a personality, a tool and its test. Writes over nothing. */
export async function run({ context, options }: CommandInput): Promise<number> {
  const { out } = context;
  const project = projectOf(context);
  const answers =
    hasOption(options, 'yes') || context.io.ask === undefined ? DEFAULTS : await ask(context);
  const files = Object.entries(initFiles(answers)).map(
    ([name, text]) => [name, join(project, name), text] as const,
  );
  const taken = files.find(([, path]) => existsSync(path));
  if (taken !== undefined) {
    throw usageError(
      `${taken[1]} is there already, so nothing was written; remove it, or name another home`,
    );
  }
  for (const [, path, text] of files) {
    const isOwn = path.startsWith(join(project, '.ethos'));
    await mkdir(dirname(path), { recursive: true, ...(isOwn && { mode: 0o700 }) });
    await writeFile(path, text, { flag: 'wx', ...(isOwn && { mode: 0o600 }) });
  }
  if (out.isJson) out.json({ project, files: files.map(([name]) => name) });
  else {
    for (const [name] of files) out.line(`wrote ${name}`);
    out.line();
    out.line('Next:');
    out.line(`  npm install ${PACKAGES.join(' ')}`);
    out.line('  npx ethosagent check');
    out.line(`  npx ethosagent call count_words '{"path":"${answers.folder}/hello.txt"}'`);
    out.line('  node --test tools/');
  }
  return EXIT.ok;
}

/** The folder that gets the home. A home has the name that commands look for. */
function projectOf({ io, namedHome }: CommandContext): string {
  if (namedHome === undefined) return io.cwd;
  const home = resolve(io.cwd, namedHome);
  if (basename(home) === '.ethos') return dirname(home);
  throw usageError(
    `--home: the folder of a new home is named .ethos; say --home ${join(namedHome, '.ethos')}`,
  );
}

async function ask({ io }: CommandContext): Promise<InitAnswers> {
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
