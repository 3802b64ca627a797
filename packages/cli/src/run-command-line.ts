import { CommanderError } from 'commander';
import { toldOf } from './cli-error.js';
import type { CliIo } from './cli-io.js';
import { CommandContext } from './command-context.js';
import { type CommandSpec, hasOption, textOption } from './command-spec.js';
import { COMMANDS } from './command-table.js';
import { createProgram } from './create-program.js';
import { EXIT } from './exit-codes.js';
import { Output, safeText } from './output.js';

/** Parses a command line, and runs its command. @returns the exit code */
export async function runCommandLine(argv: readonly string[], io: CliIo): Promise<number> {
  let exitCode: number = EXIT.ok;
  let complaint = '';
  const program = createProgram({
    out: io.out,
    ...(io.columns !== undefined && { columns: io.columns }),
    onError: (text) => {
      complaint += text;
    },
    onRun: async (spec, command) => {
      exitCode = await runCommand(spec, {
        io,
        args: command.args,
        options: command.optsWithGlobals(),
      });
    },
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.ok;
    // If the command line can't be parsed, its options are not known. So `--json` is looked for
    // here.
    const end = argv.indexOf('--');
    const asksForJson = argv.slice(0, end === -1 ? undefined : end).includes('--json');
    if (asksForJson)
      tellError(new Output(io, true), {
        code: 'CONFIG_INVALID',
        message: complaintOf(error, complaint),
      });
    else io.err(complaint);
    return EXIT.failed;
  }
}

/** Without a command, commander complains with the whole help. */
function complaintOf({ code }: CommanderError, text: string): string {
  if (code !== 'commander.help') return text.replace(/^error: /, '').trim();
  const [usage = ''] = text.split('\n', 1);
  return `the command is missing. ${usage}; --help lists the commands`;
}

interface Invocation {
  io: CliIo;
  args: readonly string[];
  options: Readonly<Record<string, unknown>>;
}

async function runCommand(spec: CommandSpec, { io, args, options }: Invocation): Promise<number> {
  const context = new CommandContext(io, {
    home: textOption(options, 'home'),
    personality: textOption(options, 'personality'),
    stores: textOption(options, 'stores'),
    json: hasOption(options, 'json'),
  });
  try {
    const module = await spec.load?.();
    return (await module?.run({ context, args, options, commands: COMMANDS })) ?? EXIT.failed;
  } catch (error) {
    const told = toldOf(error);
    if (told === undefined) throw error;
    tellError(context.out, told);
    return EXIT.failed;
  } finally {
    await context.close();
  }
}

function tellError(out: Output, error: { code: string; message: string }): void {
  if (out.isJson) out.json({ error });
  else out.note(`${out.color.red('error')}: ${safeText(error.message)}`);
}
