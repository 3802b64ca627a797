import { errorCodeOf } from '@ethosagent/types';
import { Command, CommanderError } from 'commander';
import { EXIT, messageOf } from './cli-error.js';
import type { CliIo } from './cli-io.js';
import { CommandContext } from './command-context.js';
import { type CommandSpec, hasOption, textOption } from './command-spec.js';
import { COMMANDS } from './command-table.js';
import { GLOBAL_OPTIONS } from './global-options.js';
import { safeText } from './output.js';
import { VERSION } from './version.js';

/**
 * Runs the command `ethosagent`.
 *
 * @param argv what stands after the name of the command
 * @returns the exit code: 0 done, 1 it found something, 2 it could not be done
 */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  let exitCode: number = EXIT.ok;
  const program = createProgram(io, async (spec, command) => {
    exitCode = await runCommand(spec, {
      io,
      args: command.args,
      options: command.optsWithGlobals(),
    });
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.failed;
    throw error;
  }
}

/** The grammar of the command line. */
export function createProgram(
  io: Pick<CliIo, 'out' | 'err' | 'colors' | 'columns'>,
  onRun: (spec: CommandSpec, command: Command) => Promise<void>,
): Command {
  const output = {
    writeOut: io.out,
    writeErr: io.err,
    getOutHasColors: () => io.colors,
    getErrHasColors: () => io.colors,
    ...(io.columns !== undefined && {
      getOutHelpWidth: () => io.columns ?? 0,
      getErrHelpWidth: () => io.columns ?? 0,
    }),
  };
  const program = new Command('ethosagent')
    .description('What agents may touch, what they did, and what waits for an answer.')
    .version(VERSION)
    .exitOverride()
    .configureOutput(output)
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(ethosagent --help lists the commands)');
  for (const [flags, about] of GLOBAL_OPTIONS) program.option(flags, about);
  const add = (parent: Command, spec: CommandSpec) => {
    const command = parent.command(spec.name).description(spec.summary);
    for (const [name, about] of spec.args ?? []) command.argument(name, about);
    for (const [flags, about] of spec.options ?? []) command.option(flags, about);
    for (const child of spec.children ?? []) add(command, child);
    if (spec.load !== undefined) command.action(() => onRun(spec, command));
  };
  for (const spec of COMMANDS) add(program, spec);
  return program;
}

interface Invocation {
  io: CliIo;
  args: readonly string[];
  options: Readonly<Record<string, unknown>>;
}

async function runCommand(spec: CommandSpec, { io, args, options }: Invocation): Promise<number> {
  const json = hasOption(options, 'json');
  const context = new CommandContext(io, {
    home: textOption(options, 'home'),
    personality: textOption(options, 'personality'),
    stores: textOption(options, 'stores'),
    json,
  });
  try {
    const module = await spec.load?.();
    return (await module?.run({ context, args, options, commands: COMMANDS })) ?? EXIT.failed;
  } catch (error) {
    const code = errorCodeOf(error);
    // A defect: whoever reads it needs to know where.
    if (code === undefined) throw error;
    const message = messageOf(error);
    if (json) context.out.json({ error: { code, message } });
    else io.err(`${context.out.color.red('error')}: ${safeText(message)}\n`);
    return EXIT.failed;
  } finally {
    await context.close();
  }
}
