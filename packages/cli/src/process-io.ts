import { userInfo } from 'node:os';
import type { Key } from 'node:readline';
import type { CliIo } from './cli-io.js';
import { EXIT } from './exit-codes.js';

/** The command line's view of this process. */
export function processIo(): CliIo {
  const { stdin, stdout, stderr, env } = process;
  const isTerminal = stdout.isTTY === true;
  const hasColors =
    (env.NO_COLOR ?? '') === '' &&
    ((env.FORCE_COLOR ?? '') !== '' || (isTerminal && env.TERM !== 'dumb'));
  // A reader that has gone, as in `ethosagent audit tail | head`, ends the command without a trace. It
  // was not done: what a check would have found is not known.
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(EXIT.failed);
      throw error;
    });
  }
  let interrupt: AbortSignal | undefined;
  return {
    cwd: process.cwd(),
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
    ...(isTerminal && { columns: stdout.columns }),
    ...(stdin.isTTY === true && isTerminal && { ask: askText, askSecret }),
    // Who catches Ctrl-C has to end by it. A command that does not ask for the signal ends at once.
    get signal() {
      interrupt ??= firstInterrupt();
      return interrupt;
    },
    runProgram: async (program) => (await import('./run-program.js')).runProgram(program),
  };
}

/** Fires at the first Ctrl-C. The second one ends the process. */
function firstInterrupt(): AbortSignal {
  const controller = new AbortController();
  process.once('SIGINT', () => controller.abort());
  return controller.signal;
}

const askText = (message: string) => askBy('text', message);
const askSecret = (message: string) => askBy('password', message);

/** A prompt reads single keys, so the terminal makes no signal of Ctrl-C: the process gets it from here. */
async function askBy(kind: 'text' | 'password', message: string): Promise<string | undefined> {
  const prompts = await import('@clack/prompts');
  let isInterrupted = false;
  const onKey = (_: unknown, { ctrl, name }: Key) => {
    isInterrupted ||= ctrl === true && name === 'c';
  };
  process.stdin.on('keypress', onKey);
  const answer = await prompts[kind]({ message });
  process.stdin.off('keypress', onKey);
  if (typeof answer === 'string') return answer;
  if (isInterrupted) process.kill(process.pid, 'SIGINT');
  return undefined;
}

/** Of the system, not of the environment, which anybody may set. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.geteuid?.() ?? ''}`.trim();
  }
}
