import { usageError } from '../cli-error.js';
import type { CommandInput, CommandSpec } from '../command-spec.js';
import { EXIT } from '../exit-codes.js';
import { GLOBAL_OPTIONS } from '../global-options.js';

/** Writes the completion script of a shell. */
export async function run({ context, args: [shell], commands }: CommandInput): Promise<number> {
  const write = { bash, zsh, fish }[shell ?? ''];
  if (write === undefined) throw usageError(`${shell} is not one of bash, zsh, fish`);
  context.out.line(write(commands));
  return EXIT.ok;
}

const longFlags = (options: CommandSpec['options'] = []) =>
  options.map(([flags]) => flags.split(' ')[0] ?? '');

/** The words that may follow each path of commands. */
function wordsByPath(commands: readonly CommandSpec[]): [path: string, words: string[]][] {
  const ofSpec = (path: string, { children = [], options }: CommandSpec): [string, string[]][] => [
    [
      path,
      [
        ...children.map(({ name }) => name),
        ...longFlags(options),
        ...longFlags([...GLOBAL_OPTIONS]),
      ],
    ],
    ...children.flatMap((child) => ofSpec(`${path} ${child.name}`, child)),
  ];
  return ofSpec('ethosagent', { name: 'ethosagent', summary: '', children: commands });
}

function bash(commands: readonly CommandSpec[]): string {
  const known = wordsByPath(commands);
  // The value of an option, or an argument, starts no other command.
  const paths = known.map(([path]) => `'${path}'`);
  const cases = known.map(([path, words]) => `    '${path}') known='${words.join(' ')}' ;;`);
  // zsh also runs this script. In zsh, `path` and `words` are variables of the shell.
  return `_ethosagent() {
  local word command=ethosagent known
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    case "$command $word" in
      ${paths.join('|')}) command="$command $word" ;;
    esac
  done
  case $command in
${cases.join('\n')}
    *) known='' ;;
  esac
  COMPREPLY=($(compgen -W "$known" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _ethosagent ethosagent`;
}

function zsh(commands: readonly CommandSpec[]): string {
  return `#compdef ethosagent
autoload -U +X bashcompinit && bashcompinit
${bash(commands)}`;
}

function fish(commands: readonly CommandSpec[]): string {
  const lines = (spec: CommandSpec, path: readonly string[]): string[] => {
    const seen = path.map((name) => `__fish_seen_subcommand_from ${name}`).join('; and ');
    const condition = seen === '' ? '__fish_use_subcommand' : seen;
    const names = (spec.children ?? []).map(({ name }) => name).join(' ');
    // Only until one of the children was typed.
    const isOpen = seen === '' ? seen : `; and not __fish_seen_subcommand_from ${names}`;
    const own = (spec.options ?? []).map((option) => fishOption(option, condition));
    const children = (spec.children ?? []).flatMap((child) => [
      `complete -c ethosagent -f -n '${condition}${isOpen}' -a ${child.name} -d '${quoted(child.summary)}'`,
      ...lines(child, [...path, child.name]),
    ]);
    return [...own, ...children];
  };
  const shared = GLOBAL_OPTIONS.map((option) => fishOption(option));
  return [...shared, ...lines({ name: '', summary: '', children: commands }, [])].join('\n');
}

/** Describes an option, and whether it takes a value. */
function fishOption([flags, about]: readonly [string, string], condition?: string): string {
  const [flag = '', value] = flags.split(' ');
  const when = condition === undefined ? '' : ` -n '${condition}'`;
  return `complete -c ethosagent${when} -l ${flag.slice(2)}${value === undefined ? '' : ' -r'} -d '${quoted(about)}'`;
}

const quoted = (text: string) => text.replaceAll("'", "\\'");
