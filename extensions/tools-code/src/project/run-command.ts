import { stripVTControlCharacters } from 'node:util';
import { errorCodeOf, type ScopedProcess } from '@ethosagent/types';
import { HeadTail } from '../output/head-tail.js';
import type { OutputParser } from '../output/output-parser.js';
import type { RunCommand } from './runner.js';

const WORDS_CHARS = 4_000;
const OUTPUT_CHARS = 8_000;
/** How many characters a report is read from. A parser may keep all of them. */
export const MAX_PARSED_CHARS = 128 * 1024 * 1024;

/** How a tool ended. */
export interface ToolRun<R> {
  command: RunCommand;
  /** The report; `undefined` when the tool ended without one. */
  report: R | undefined;
  exitCode: number;
  signal: string | undefined;
  timedOut: boolean;
  /** Whether it wrote more than a report is read from. */
  isTooLong: boolean;
  /** The text on standard error, else that on standard output. Of a long text, both ends. */
  words: string;
  /** The text on both streams, in its order. Of a long text, both ends. */
  output: string;
}

/**
 * Runs a tool with the first of its commands that can be started.
 *
 * @returns how the tool ended, or why each of the commands could not be started
 */
export async function runCommand<R>(
  process: ScopedProcess,
  commands: readonly RunCommand[],
  options: { parser: () => OutputParser<R>; timeoutMs: number },
): Promise<ToolRun<R> | { notStarted: string[] }> {
  const notStarted: string[] = [];
  for (const command of commands) {
    const parser = options.parser();
    const said = { stdout: new HeadTail(WORDS_CHARS), stderr: new HeadTail(WORDS_CHARS) };
    const both = new HeadTail(OUTPUT_CHARS);
    try {
      const { exitCode, signal, timedOut } = await process.spawn(command.binary, command.args, {
        cwd: command.cwd,
        ...(command.env !== undefined && { env: { ...command.env } }),
        timeout: options.timeoutMs,
        overflow: 'drop',
        maxOutputBytes: 0,
        onOutput: (text, stream) => {
          if (both.chars <= MAX_PARSED_CHARS) parser.add(text, stream);
          said[stream].add(text);
          both.add(text);
        },
      });
      // Without the report that a runner writes for us among its output.
      const spoken = said.stdout
        .text()
        .split('\n')
        .filter((line) => !line.startsWith('\u0001'))
        .join('\n');
      const words = stripVTControlCharacters(said.stderr.text().trim() || spoken.trim());
      const output = stripVTControlCharacters(both.text().trim());
      const isTooLong = both.chars > MAX_PARSED_CHARS;
      const report = isTooLong ? undefined : parser.end(exitCode);
      if (report === undefined && isMissing(command, exitCode, words)) {
        notStarted.push(words);
        continue;
      }
      const ended = { exitCode, signal, timedOut: timedOut === true, isTooLong };
      return { command, report, ...ended, words, output };
    } catch (error) {
      if (errorCodeOf(error) !== 'SPAWN_FAILED' || !(error instanceof Error)) throw error;
      notStarted.push(error.message);
    }
  }
  return { notStarted };
}

// A version manager puts a shim for each program into `PATH`. The shim fails when the tool is missing.
const NOT_FOUND = 127;

function isMissing({ missing }: RunCommand, exitCode: number, words: string): boolean {
  return exitCode === NOT_FOUND || missing?.test(words) === true;
}
