import { maySplit } from './marked-text.js';

/** Matches builtins that declare variables, with values in their words. */
export const DECLARES = /^(export|declare|typeset|local|readonly)$/;

const VALUED: Readonly<Record<string, string>> = {
  read: 'adinNptu',
  mapfile: 'CcdnOsu',
  readarray: 'CcdnOsu',
  printf: 'v',
  wait: 'p',
};

interface BuiltinWords {
  /** The values of `-a`, `-v` or `-p`, which are names. */
  named: readonly string[];
  operands: readonly string[];
}

function readWords(args: readonly string[], valued: string, naming: string): BuiltinWords {
  const named: string[] = [];
  const skipped: string[] = [];
  let at = 0;
  for (; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (word === '--') {
      at += 1;
      break;
    }
    if (mayVanish(word)) {
      skipped.push(word);
      continue;
    }
    if (!/^-./.test(word)) break;
    const letter = [...word].findIndex(
      (character, index) => index > 0 && valued.includes(character),
    );
    if (letter === -1) continue;
    const isName = naming === word[letter];
    const joined = word.slice(letter + 1);
    if (joined === '') at += 1;
    if (isName) named.push(joined === '' ? (args[at] ?? '') : joined);
  }
  return { named, operands: [...skipped, ...args.slice(at)] };
}

/** Whether a word may become no word, so that what comes after it takes its place. */
function mayVanish(word: string): boolean {
  return maySplit(word) || /^[$`]/.test(word);
}

/** Returns the words of `printf` after its options: the format, and what it formats. */
export function printfOperands(args: readonly string[]): readonly string[] {
  return readWords(args, VALUED.printf ?? '', '').operands;
}

/**
 * Returns the words of a builtin of bash that are names of variables which it sets, e.g. `x` of
 * `read -r x` and `y` of `printf -v y …`.
 *
 * @returns the names; `undefined` for a command whose words set no variable
 */
export function variableOperands(name: string, args: readonly string[]): string[] | undefined {
  const { named, operands } = readWords(
    args,
    VALUED[name] ?? '',
    { read: 'a', printf: 'v', wait: 'p' }[name] ?? '',
  );
  switch (name) {
    case 'read': {
      const names = [...named, ...operands];
      return names.length === 0 ? ['REPLY'] : names;
    }
    case 'mapfile':
    case 'readarray':
      return operands.length === 0 ? ['MAPFILE'] : operands.slice(0, 1);
    case 'printf':
      return [...named];
    case 'wait':
      return [...named];
    case 'getopts':
      return [
        'OPTARG',
        'OPTIND',
        ...(mayVanish(operands[0] ?? '') ? operands.slice(0, 3) : operands.slice(1, 2)),
      ];
    case 'unset':
      return [...operands];
    default:
      return undefined;
  }
}
