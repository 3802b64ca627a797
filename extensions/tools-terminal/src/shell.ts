/** The one program that the terminal tools start. */
export const SHELL = 'bash';

/** What it is told, so that no file of a user changes what a command means. */
export function shellArguments(command: string): string[] {
  return ['--noprofile', '--norc', '-c', command];
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
