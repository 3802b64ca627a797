import { Command } from 'commander';
import type { CliIo } from './cli-io.js';
import { commandAt, helpText, ROOT, VERSION_OPTION } from './command-help.js';
import type { CommandSpec } from './command-spec.js';
import { otherNames } from './command-table.js';
import { VERSION } from './version.js';

interface ProgramOptions extends Pick<CliIo, 'out' | 'columns'> {
  /** Receives the errors of the command line. */
  onError(text: string): void;
  onRun(spec: CommandSpec, command: Command): Promise<void>;
}

/** The grammar of the command line. */
export function createProgram({ out, columns, onError, onRun }: ProgramOptions): Command {
  const fill = (command: Command, path: readonly CommandSpec[]) => {
    const spec = path.at(-1) ?? ROOT;
    const name = path.map((each) => each.name).join(' ');
    const listed = spec.children === undefined ? 'options' : 'commands';
    command
      .configureHelp({ formatHelp: () => helpText(path, columns) })
      .showHelpAfterError(`(${name} --help lists the ${listed})`)
      .description(spec.summary);
    for (const [arg, about] of spec.args ?? []) command.argument(arg, about);
    for (const [flags, about] of spec.options ?? []) command.option(flags, about);
    for (const child of spec.children ?? []) fill(command.command(child.name), [...path, child]);
    if (spec.children !== undefined) addHelp(command, path);
    if (spec.load !== undefined) command.action(() => onRun(spec, command));
    return command;
  };
  /** The `help` of commander shows the help of another command where a name is wrong. */
  const addHelp = (group: Command, path: readonly CommandSpec[]) =>
    group
      .helpCommand(false)
      .command('help [command...]', { hidden: true })
      .action((names: string[]) => {
        const found = commandAt(names, path);
        if (found === undefined) group.error(`error: unknown command '${names.join(' ')}'`);
        out(helpText(found, columns));
      });
  // Set before the commands are added, since they copy these settings.
  const program = new Command(ROOT.name)
    .exitOverride()
    .configureOutput({ writeOut: out, writeErr: onError })
    .version(VERSION, ...VERSION_OPTION);
  fill(program, [ROOT]);
  for (const [name, meant] of otherNames()) {
    program
      .command(name, { hidden: true })
      .allowUnknownOption()
      .allowExcessArguments()
      .action(() => program.error(`error: unknown command '${name}'\n(Did you mean ${meant}?)`));
  }
  return program;
}
