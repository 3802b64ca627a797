import type { CliIo } from './cli-io.js';
import { helpAtOnce } from './command-help.js';
import { EXIT } from './exit-codes.js';

/**
 * Runs the command `ethosagent`.
 *
 * @param argv what stands after the name of the command
 * @param io where output goes and input comes from
 * @returns the exit code: 0 done, 1 it found something, 2 it could not be done
 */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  const help = helpAtOnce(argv, io.columns);
  if (help !== undefined) {
    io.out(help);
    return EXIT.ok;
  }
  const { runCommandLine } = await import('./run-command-line.js');
  return runCommandLine(argv, io);
}
