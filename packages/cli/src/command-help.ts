import type { CommandSpec } from './command-spec.js';
import { COMMANDS } from './command-table.js';
import { GLOBAL_OPTIONS } from './global-options.js';
import { VERSION } from './version.js';

/** The root command. */
export const ROOT: CommandSpec = {
  name: 'ethosagent',
  summary: 'What agents may touch, what they did, and what waits for an answer.',
  options: GLOBAL_OPTIONS,
  children: COMMANDS,
};

export const VERSION_OPTION = ['-V, --version', 'write the version'] as const;
const HELP_OPTION = ['-h, --help', 'show this help'] as const;
const HELP_COMMAND = ['help [command]', 'show the help of a command'] as const;

/**
 * The answer to a command line that only asks for help or the version. It needs no parser, which
 * takes longer to load than Node takes to start.
 *
 * @returns `undefined` if the parser is needed
 */
export function helpAtOnce(argv: readonly string[], columns?: number): string | undefined {
  const path = commandAt(argv.slice(0, -1));
  if (path === undefined) return undefined;
  const last = argv.at(-1);
  if (last === '--help' || last === '-h') return helpText(path, columns);
  const asksForVersion = last === '--version' || last === '-V';
  return asksForVersion && path.length === 1 ? `${VERSION}\n` : undefined;
}

/**
 * Finds a command by its name and those above it.
 *
 * @param path where the names begin
 * @returns the command, after all those above it; `undefined` for names of no command
 */
export function commandAt(
  names: readonly string[],
  path: readonly CommandSpec[] = [ROOT],
): CommandSpec[] | undefined {
  const found = [...path];
  for (const wanted of names) {
    const child = found.at(-1)?.children?.find(({ name }) => name === wanted);
    if (child === undefined) return undefined;
    found.push(child);
  }
  return found;
}

/**
 * Returns the help of a command.
 *
 * @param path the commands that lead to it, from the root to itself
 * @param columns the width of the terminal in columns
 */
export function helpText(path: readonly CommandSpec[], columns = 80): string {
  const command = path.at(-1) ?? ROOT;
  const isRoot = path.length <= 1;
  const own = isRoot ? [VERSION_OPTION, ...GLOBAL_OPTIONS] : (command.options ?? []);
  const sections: [title: string, rows: readonly (readonly [term: string, about: string])[]][] = [
    ['Arguments', (command.args ?? []).map(([name, about]) => [bareName(name), about])],
    ['Options', [...own, HELP_OPTION]],
    ['Global Options', isRoot ? [] : [VERSION_OPTION, ...GLOBAL_OPTIONS]],
    [
      'Commands',
      command.children === undefined
        ? []
        : [
            ...command.children.map((child) => [usageOf(child), child.summary] as const),
            HELP_COMMAND,
          ],
    ],
  ];
  const shown = sections.filter(([, rows]) => rows.length > 0);
  const width = Math.max(...shown.flatMap(([, rows]) => rows.map(([term]) => term.length)));
  const above = path.slice(0, -1).map(({ name }) => name);
  return [
    `Usage: ${[...above, usageOf({ ...command, options: [HELP_OPTION] })].join(' ')}`,
    wrapped(command.summary, columns).join('\n'),
    ...shown.map(([title, rows]) =>
      [`${title}:`, ...rows.map((row) => rowText(row, { width, columns }))].join('\n'),
    ),
  ]
    .join('\n\n')
    .concat('\n');
}

function usageOf({ name, options = [], args = [], children }: CommandSpec): string {
  return [
    name,
    ...(options.length > 0 ? ['[options]'] : []),
    ...(children === undefined ? args.map(([arg]) => arg) : ['[command]']),
  ].join(' ');
}

/** `<tool>` without the marks that show whether it is required and may be repeated. */
const bareName = (name: string) => name.replace(/^[<[]|[>\]]$|\.\.\./g, '');

/** With fewer columns, a text is easier to read without wrapping. */
const NARROWEST = 30;

function rowText(
  [term, about]: readonly [string, string],
  { width, columns }: { width: number; columns: number },
): string {
  const indent = width + 4;
  const lines = wrapped(about, columns - indent);
  return `  ${term.padEnd(width)}  ${lines.join(`\n${' '.repeat(indent)}`)}`;
}

/** Wraps a text into lines of at most `columns` characters. A longer word stays whole. */
function wrapped(text: string, columns: number): string[] {
  if (columns < NARROWEST) return [text];
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
