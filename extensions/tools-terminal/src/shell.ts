import { plainWords } from './command-policy/plain-command.js';
import type { CommandPolicy } from './command-policy/policy-settings.js';

/** The one program that the terminal tools start. */
export const SHELL = 'bash';

/** What it is told, so that no file of a user changes what a command means. */
export function shellArguments(command: string, { shell }: Pick<CommandPolicy, 'shell'>): string[] {
  const options = ['--noprofile', '--norc', '-c'];
  if (shell) return [...options, command];
  return [...options, BECOMES, command, ...plainWords(command)];
}

/** All that bash reads of a command without a shell: it becomes the program, with words as they are. */
const BECOMES = 'exec -- "$@"';

/** The command line that such arguments are of. */
export function commandIn([, , , text = '', line]: readonly string[]): string {
  return text === BECOMES && line !== undefined ? line : text;
}

/**
 * Variables with which programs neither page, nor colour, nor ask. Standard input is closed, and
 * there is no terminal that could be asked.
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
