import { plainWords } from './command-policy/plain-command.js';
import type { CommandPolicy } from './command-policy/policy-settings.js';

/** The one program that the terminal tools start. */
export const SHELL = 'bash';

/**
 * Returns the arguments of bash for a command. With them, no file of a user changes what the
 * command means.
 */
export function shellArguments(command: string, { shell }: Pick<CommandPolicy, 'shell'>): string[] {
  const options = ['--noprofile', '--norc', '-c'];
  if (shell) return [...options, command];
  return [...options, BECOMES, command, ...plainWords(command)];
}

/**
 * The only text that bash reads without a shell: bash becomes the program, and the words stay as
 * they are.
 */
const BECOMES = 'exec -- "$@"';

/** The columns and rows of a terminal's screen. */
export const SCREEN = { columns: 100, rows: 30 };

// `script` opens a terminal, and runs a command in it by the shell that `SHELL` names.
const IN_TERMINAL = [
  'if ! command -v script >/dev/null; then',
  '  echo "there is no program script, which opens terminals; install util-linux" >&2; exit 127',
  'fi',
  'unset COLUMNS LINES',
  'export ETHOS_COMMAND="$1" TERM=xterm-256color SHELL=/bin/sh',
  `exec script -q -f -e -E always -c 'stty cols ${SCREEN.columns} rows ${SCREEN.rows}; c="$ETHOS_COMMAND"; unset ETHOS_COMMAND; exec bash --noprofile --norc -c "$c"' /dev/null`,
].join('\n');

/** Returns the arguments of bash for a command that runs in a terminal. */
export function terminalArguments(command: string): string[] {
  return ['--noprofile', '--norc', '-c', IN_TERMINAL, TERMINAL_NAME, command];
}

const TERMINAL_NAME = 'terminal';

/** Whether these arguments of bash run a command in a terminal. */
export function isInTerminal([, , , text, name]: readonly string[]): boolean {
  return text === IN_TERMINAL && name === TERMINAL_NAME;
}

/** Returns the command line in these arguments of bash. */
export function commandIn(args: readonly string[]): string {
  const [, , , text = '', line, inTerminal = ''] = args;
  if (isInTerminal(args)) return inTerminal;
  return text === BECOMES && line !== undefined ? line : text;
}

/**
 * Variables that turn off pagers, colours and questions of programs. Standard input is closed, and
 * there is no terminal, so nobody could answer.
 */
export const SHELL_ENVIRONMENT: Record<string, string> = {
  TERM: 'dumb',
  NO_COLOR: '1',
  FORCE_COLOR: '0',
  CLICOLOR: '0',
  COLUMNS: '120',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  SYSTEMD_PAGER: '',
  GIT_TERMINAL_PROMPT: '0',
  GIT_MERGE_AUTOEDIT: 'no',
  DEBIAN_FRONTEND: 'noninteractive',
  CI: '1',
  NPM_CONFIG_YES: 'true',
  NPM_CONFIG_FUND: 'false',
  NPM_CONFIG_PROGRESS: 'false',
  NPM_CONFIG_UPDATE_NOTIFIER: 'false',
  PIP_NO_INPUT: '1',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  PYTHONUNBUFFERED: '1',
  CARGO_TERM_COLOR: 'never',
};
