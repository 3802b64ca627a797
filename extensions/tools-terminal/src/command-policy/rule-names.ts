import { BUILT_IN_RULES } from './rules/index.js';

/** The names of all built-in rules, including those about whole command lines. */
export const RULE_NAMES: [string, ...string[]] = [
  'fork-bomb',
  ...BUILT_IN_RULES.map(({ name }) => name),
];
