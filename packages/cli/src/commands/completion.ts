import { EXIT, usageError } from '../cli-error.js';
import type { CommandInput, CommandSpec } from '../command-spec.js';
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
  // The value of an option, or an argument, leads to no other command.
  const paths = known.map(([path]) => `'${path}'`);
  const cases = known.map(([path, words]) => `    '${path}') words='${words.join(' ')}' ;;`);
  return `_ethosagent() {
  local word path=ethosagent words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
      ${paths.join('|')}) path="$path $word" ;;
    esac
  done
  case $path in
${cases.join('\n')}
    *) words='' ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
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
    const own = (spec.options ?? []).map(
      ([flags, about]) =>
        `complete -c ethosagent -n '${condition}' -l ${flags.split(' ')[0]?.slice(2)} -d '${quoted(about)}'`,
    );
    const children = (spec.children ?? []).flatMap((child) => [
      `complete -c ethosagent -f -n '${condition}' -a ${child.name} -d '${quoted(child.summary)}'`,
      ...lines(child, [...path, child.name]),
    ]);
    return [...own, ...children];
  };
  const shared = GLOBAL_OPTIONS.map(
    ([flags, about]) =>
      `complete -c ethosagent -l ${flags.split(' ')[0]?.slice(2)} -d '${quoted(about)}'`,
  );
  return [...shared, ...lines({ name: '', summary: '', children: commands }, [])].join('\n');
}

const quoted = (text: string) => text.replaceAll("'", "\\'");
