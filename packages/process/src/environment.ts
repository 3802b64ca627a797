import { variableEffect } from '@ethosagent/policy';
import { CapabilityError } from '@ethosagent/types';

// A pager may only be `cat` or empty, which turns paging off.
const PAGERS = /PAGER$/;

/**
 * Checks the variables that a tool passes to a child.
 *
 * @param env the variables, by name
 * @throws `BINARY_NOT_ALLOWED` for a variable that changes what runs, or a text that can't be a
 * variable
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

/** Variables of a child, before the tool adds its own. */
export type BaseEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * What a host passes to its children: what it gives, or its own environment.
 *
 * @param given `undefined` stands for the environment of this process
 * @returns the variables, by name
 */
export function baseEnvironment(given: BaseEnvironment | undefined): BaseEnvironment {
  // biome-ignore lint/style/noProcessEnv: the documented default; a host passes its own base environment
  return given ?? process.env;
}
