import { existsSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { mcpServerPart } from '@ethosagent/policy';
import { usageError } from '../cli-error.js';
import type { CommandContext } from '../command-context.js';
import { type CommandInput, hasOption, textOption } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { McpFile } from '../mcp-file.js';
import { mcpReaders } from '../mcp-readers.js';
import { safeLine } from '../output.js';

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Adds a server to `mcp.json`, and shows which personalities get it. Does not replace an existing
 * one.
 */
export async function run({ context, args, options }: CommandInput): Promise<number> {
  const { out } = context;
  const [server = '', ...command] = args;
  const file = await McpFile.open(context.home);
  const known = file.sameAs(server);
  if (known !== undefined) {
    throw usageError(
      `${file.path} has the server ${known} already; remove it first with "ethosagent mcp remove ${known}"`,
    );
  }
  const variables = variablesOf(options);
  const words = command.map((word) => fromHere(word, context.io.cwd));
  const entry = entryOf(words, variables, textOption(options, 'url'));
  const { naming, all } = await mcpReaders(server, context);
  if (all.length > 0 && !hasOption(options, 'yes')) await confirm(server, all, context);
  await file.set(server, entry);
  const secrets = variables.all.map((name) => `mcp/${mcpServerPart(server)}/${name}`);
  const personalities = [...naming, ...all].sort();
  if (out.isJson) out.json({ file: file.path, server, personalities, secrets });
  else {
    out.line(`added ${safeLine(server)} to ${file.path}`);
    out.line(
      personalities.length === 0
        ? 'no personality has it yet: name it in mcp_servers'
        : `for ${personalities.join(', ')}`,
    );
    for (const [at, word] of words.entries()) {
      if (word === command[at]) continue;
      out.note(
        `${safeLine(command[at] ?? '')} is written as ${safeLine(word)}, since a server starts in a folder of the personality and not here`,
      );
    }
    for (const ref of secrets)
      out.line(`store its secret: ethosagent secrets set ${safeLine(ref)}`);
    if ((await context.config()).mcp === undefined) {
      out.note('ethos.config.mjs has no "mcp: true" yet, so the agent starts no servers.');
    }
    out.note(
      'Its tools are taken as they are when it first starts: look at them with "ethosagent mcp status". What it changes or adds from then on has to be accepted with "ethosagent mcp accept".',
    );
  }
  return EXIT.ok;
}

/**
 * A word of the command that is a path from this folder, as an absolute one. A server starts in a
 * folder of the personality, which tools may write: there, the path would be another file, or one
 * of theirs.
 */
function fromHere(word: string, cwd: string): string {
  const path = resolve(cwd, word);
  return /[./]/.test(word) && !isAbsolute(word) && existsSync(path) ? path : word;
}

function variablesOf(options: CommandInput['options']) {
  const env = textOption(options, 'env')?.split(',') ?? [];
  const bearer = textOption(options, 'bearer');
  const all = [...env, ...(bearer === undefined ? [] : [bearer])];
  const wrong = all.find((name) => !VARIABLE.test(name));
  if (wrong !== undefined) {
    throw usageError(
      `${wrong.slice(0, 3)}… is not the name of a variable; a value is stored with "ethosagent secrets set", never an argument`,
    );
  }
  return { env, bearer, all };
}

function entryOf(
  [program, ...args]: readonly string[],
  { env, bearer }: ReturnType<typeof variablesOf>,
  url: string | undefined,
): Record<string, unknown> {
  if ((program === undefined) === (url === undefined)) {
    throw usageError('say how it is reached: either -- PROGRAM ARGUMENTS, or --url URL');
  }
  if (url !== undefined) {
    if (env.length > 0) throw usageError('--env is for programs; use --bearer with --url');
    if (!url.includes('${') && !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
      throw usageError(
        `--url: ${url} is no URL of http or https, as in https://mcp.example.com/mcp`,
      );
    }
    return {
      type: 'http',
      url,
      ...(bearer !== undefined && { headers: { Authorization: `Bearer \${${bearer}}` } }),
    };
  }
  if (bearer !== undefined) throw usageError('--bearer is for --url; use --env for programs');
  if (program?.includes('/') === true && !isAbsolute(program)) {
    throw usageError(`there is no ${program} here; name a program of PATH, or a file`);
  }
  return {
    command: program,
    args,
    ...(env.length > 0 && { env: Object.fromEntries(env.map((name) => [name, `\${${name}}`])) }),
  };
}

/** A personality that names no servers has all of them, so a new server widens it. */
async function confirm(
  server: string,
  all: readonly string[],
  { io }: CommandContext,
): Promise<void> {
  const who = `${all.join(', ')} ${all.length === 1 ? 'has' : 'have'} no list mcp_servers, and so would get ${safeLine(server)} too`;
  if (io.ask === undefined) {
    throw usageError(
      `nothing was written: ${who}; give --yes to allow that, or first list the servers that they may use in mcp_servers of their config.yaml`,
    );
  }
  const answer = (await io.ask(`${who}. Add it? [y]es, [n]o: `))?.trim().toLowerCase();
  if (answer !== 'y' && answer !== 'yes') throw usageError('nothing was written');
}
