import { isMarked, UNKNOWN } from './marked-text.js';
import { hasShort } from './options.js';
import type { CommandAssignment, SimpleCommand } from './simple-command.js';
import { DECLARES, variableOperands } from './variable-operands.js';

/** Matches programs that have assignments among their words, for the command that they run. */
const GIVES = /^(env|sudo|doas|cross-env|cross-env-shell|time|systemd-run)$/;
const NAME = /^[A-Za-z_]\w*$/;

/** Returns the variables that a command sets by its words. */
export function setBy({ name = '', args }: SimpleCommand): CommandAssignment[] {
  if (DECLARES.test(name)) return declaredBy(name, args);
  if (GIVES.test(name)) {
    return args.flatMap((word) => {
      const found = assignmentOf(word);
      return found === undefined ? [] : [{ ...found, isExported: true }];
    });
  }
  if (name === 'set') return setByOptions(args);
  const operands = variableOperands(name, args) ?? [];
  if (name === 'unset') {
    return operands.map((word) => ({
      name: word.replace(/\[.*$/s, ''),
      value: '',
      isRemoved: true,
    }));
  }
  return operands.map((word) => ({ name: nameIn(word), value: UNKNOWN }));
}

/** Returns what a shell option sets that exports variables, or reads words as assignments. */
function setByOptions(args: readonly string[]): CommandAssignment[] {
  const names = args.map((word, at) => (args[at - 1] === '-o' ? word : ''));
  return [
    ...(hasShort(args, 'k') || names.includes('keyword')
      ? [{ name: UNKNOWN, value: UNKNOWN }]
      : []),
    ...(hasShort(args, 'a') || names.includes('allexport')
      ? [{ name: 'allexport', value: '', isExported: true, isKept: true }]
      : []),
  ];
}

function declaredBy(command: string, args: readonly string[]): CommandAssignment[] {
  const isExported = command === 'export' || hasShort(args, 'x');
  const set: CommandAssignment[] = [];
  if (command !== 'export' && command !== 'readonly' && hasShort(args, 'n')) {
    set.push({ name: UNKNOWN, value: UNKNOWN, isReference: true });
  }
  for (const word of args) {
    if (/^[-+][a-zA-Z]*$/.test(word) || word === '--') continue;
    const found = assignmentOf(word);
    if (found !== undefined) set.push({ ...found, isExported });
    else if (!NAME.test(word)) set.push({ name: nameIn(word), value: UNKNOWN, isExported });
    // Without a value, the variable is only exported, or no longer exported.
    else set.push({ name: word, value: UNKNOWN, isExported, isKept: true });
  }
  return set;
}

/** Parses `name=value` or `name+=value`. The name may be known only at run time. */
export function assignmentOf(word: string): CommandAssignment | undefined {
  const [, name, appends, value] =
    /^([A-Za-z_\uE000-\uE004][\w\uE000-\uE004%()]*)(?:\[[^=]*\])?(\+?)=(.*)$/s.exec(word) ?? [];
  if (name === undefined || value === undefined) return undefined;
  return { name, value, ...(appends === '+' && { appends: true }) };
}

function nameIn(word: string): string {
  const name = word.replace(/\[.*$/s, '');
  return isMarked(name) ? UNKNOWN : name;
}
