import { variableEffect } from '@ethosagent/policy';
import { CapabilityError } from '@ethosagent/types';

// A pager may only be `cat` or empty, which turns paging off.
const PAGERS = /PAGER$/;

/**
 * Checks the environment variables that a tool passes to a child.
 *
 * @param env the variables, by name
 * @throws `BINARY_NOT_ALLOWED` for a variable that changes what runs, or for a malformed name or
 * text
 */
export function assertSafeEnvironment(env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) {
    const upper = name.toUpperCase();
    if (name === '' || /[=\0]/.test(name) || typeof value !== 'string' || value.includes('\0')) {
      throw refuse(
        name,
        'is not a variable; give a name without = and a text without NUL',
        'malformed environment',
      );
    }
    const refused = PAGERS.test(upper)
      ? value !== 'cat' && value !== ''
      : variableEffect(upper) !== undefined;
    if (refused) {
      throw refuse(name, 'changes what runs; leave it out', 'environment changes what runs');
    }
  }
}

function refuse(name: string, what: string, rule: string): CapabilityError {
  const shown = JSON.stringify(name.slice(0, 100)).slice(1, -1);
  return new CapabilityError('BINARY_NOT_ALLOWED', `environment variable ${shown} ${what}`, rule);
}

/** The environment of a child, before the tool adds its variables. */
export type BaseEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the environment that a host passes to its children.
 *
 * @param given the environment that the host chose; the one of this process when `undefined`
 * @returns the variables, by name
 */
export function baseEnvironment(given: BaseEnvironment | undefined): BaseEnvironment {
  // biome-ignore lint/style/noProcessEnv: the documented default; a host passes its own base environment
  return given ?? process.env;
}
