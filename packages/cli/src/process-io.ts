import { userInfo } from 'node:os';
import type { Key } from 'node:readline';
import type { CliIo } from './cli-io.js';
import { EXIT } from './exit-codes.js';

/**
 * The input and output of this process, for the command line.
 *
 * @param exit ends the process when its output can not be written
 */
export function processIo(exit: (exitCode: number) => void): CliIo {
  const { stdin, stdout, stderr, env } = process;
  const isTerminal = stdout.isTTY === true;
  const hasColors =
    (env.NO_COLOR ?? '') === '' &&
    ((env.FORCE_COLOR ?? '') !== '' || (isTerminal && env.TERM !== 'dumb'));
  // A reader may go away, as in `ethosagent audit tail | head`. The command then ends without a
  // message. It counts as failed, since a check did not finish.
  for (const stream of [stdout, stderr]) {
    stream.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code !== 'EPIPE' && stream === stdout) {
        stderr.write(
          `error: the output could not be written (${code}); free or change its place\n`,
        );
      }
      exit(EXIT.failed);
    });
  }
  let interrupt: AbortSignal | undefined;
  return {
    get cwd() {
      return workingFolder();
    },
    env,
    user: userName(),
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    readInput: async () => {
      if (stdin.isTTY === true) return '';
      const { text } = await import('node:stream/consumers');
      return text(stdin);
    },
    colors: hasColors,
    isTerminal,
    ...(isTerminal && { columns: stdout.columns }),
    ...(stdin.isTTY === true && isTerminal && { ask: askText, askSecret }),
    // Only a command that reads the signal handles Ctrl-C itself. All others end at once.
    get signal() {
      interrupt ??= firstInterrupt();
      return interrupt;
    },
    runProgram: async (program) => (await import('./run-program.js')).runProgram(program),
  };
}

/** The error has a code by itself, because the class of errors takes long to load. */
function workingFolder(): string {
  try {
    return process.cwd();
  } catch (cause) {
    const message = 'the folder of this terminal does not exist any more; change to another one';
    throw Object.assign(new Error(message, { cause }), { code: 'CONFIG_INVALID' as const });
  }
}

/** Fires at the first Ctrl-C. The second one ends the process. */
function firstInterrupt(): AbortSignal {
  const controller = new AbortController();
  process.once('SIGINT', () => controller.abort());
  return controller.signal;
}

const askText = (message: string) => askBy('text', message);
const askSecret = (message: string) => askBy('password', message);

/**
 * During a prompt the terminal gives single keys and no signal for Ctrl-C. So the signal is sent
 * here.
 */
async function askBy(kind: 'text' | 'password', message: string): Promise<string | undefined> {
  const prompts = await import('@clack/prompts');
  const { inputEnd } = await import('@ethosagent/create');
  let isInterrupted = false;
  const onKey = (_: unknown, { ctrl, name }: Key) => {
    isInterrupted ||= ctrl === true && name === 'c';
  };
  process.stdin.on('keypress', onKey);
  const over = inputEnd(process.stdin);
  const answer = await prompts[kind]({ message, signal: over.signal });
  over.release();
  process.stdin.off('keypress', onKey);
  if (typeof answer === 'string') return answer;
  if (isInterrupted) process.kill(process.pid, 'SIGINT');
  return undefined;
}

/** The name from the system. Anybody may set that in the environment. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.geteuid?.() ?? ''}`.trim();
  }
}
