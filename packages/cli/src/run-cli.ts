import type { CliIo } from './cli-io.js';
import { helpAtOnce } from './command-help.js';
import { EXIT } from './exit-codes.js';

/**
 * Runs the command `ethosagent`.
 *
 * @param argv the arguments after the name of the command
 * @param io the input and output of the command
 * @returns the exit code: 0 if it was done; 1 if it found something, such as a problem or a refused
 * call; 2 if it could not be done; for `record`, the exit code of the program that it ran
 * @throws an error without a code, which is a defect; any other error gives the exit code 2
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
