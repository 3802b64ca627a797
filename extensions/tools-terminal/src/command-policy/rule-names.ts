import { BUILT_IN_RULES } from './rules/index.js';

/** The names of the built-in rules, those about whole command lines among them. */
export const RULE_NAMES: [string, ...string[]] = [
  'fork-bomb',
  ...BUILT_IN_RULES.map(({ name }) => name),
];
