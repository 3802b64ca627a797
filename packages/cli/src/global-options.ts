import type { CommandSpec } from './command-spec.js';

export const GLOBAL_OPTIONS = [
  ['--home <dir>', 'the home of the agent; else ETHOS_HOME, else .ethos here or above'],
  ['--personality <id>', 'the personality; else that of ethos.config.mjs, else the only one'],
  ['--stores <url>', 'the database of the state; else ETHOS_STORES, else that of ethos.config'],
  ['--json', 'write JSON'],
] as const satisfies CommandSpec['options'];
