import { type CommandText, commandsIn, type Word } from './script-words.js';

/** The command of a script that runs a tool, and the commands around it. */
export interface ScriptCommand {
  /** The name of the script with the command. */
  script: string;
  text: string;
  words: readonly Word[];
  /** The index of the word that is the tool. */
  program: number;
  /** The commands that the script runs before it, without linters and type checkers. */
  before: readonly string[];
  /** Commands of the script that are not run. */
  left: readonly string[];
}

interface Step {
  script: string;
  command: CommandText;
}

const MAX_DEPTH = 5;
// The attack: five scripts that each run the next one a thousand times.
const MAX_SCRIPTS = 100;
const MAX_STEPS = 1_000;
const MAX_SCRIPT_CHARS = 4_000;
const MAX_NAMES = 100;
const ASSIGNMENT = /^\w+=/;
/** Programs that run the program in their arguments. */
const WRAPPERS = new Set(
  'cross-env cross-env-shell env npx bunx pnpx c8 nyc dotenv dotenvx node pnpm yarn npm bun time'.split(
    ' ',
  ),
);
/** Programs with options whose value may look like a program. */
const WITH_OPTIONS = new Set(['c8', 'nyc', 'node', 'dotenv', 'dotenvx', 'env']);
const RUNS_NEXT = new Set(['exec', 'run', 'x', 'dlx', '--']);
/** Linters and type checkers. Tests do not need them. */
const JUDGES =
  /^(eslint|standard|semistandard|ts-standard|xo|biome|prettier|oxlint|tsd|stylelint|knip|publint|attw|depcheck|size-limit|markdownlint\S*|cspell|npm-run-lint)$/;

/** Returns the name of a program, without its folder and its extension. */
export function programName(word: string): string {
  return (word.split('/').at(-1) ?? '').replace(/\.[cm]?js$/, '');
}

/** Returns the text of a script, with its `pre` and `post` scripts. */
export function wholeScript(scripts: ReadonlyMap<string, string>, name: string): string {
  return [`pre${name}`, name, `post${name}`]
    .flatMap((each) => scripts.get(each)?.trim() || [])
    .map((text, _at, all) => (all.length > 1 ? `{ ${text}\n}` : text))
    .join(' && ');
}

/**
 * Finds the command in a script that runs a tool. It also searches the scripts that the script
 * runs.
 *
 * @param find returns which word of a command is the tool
 * @returns the command; `undefined` when there is none, or when only a shell could tell
 */
export function scriptCommand(
  scripts: ReadonlyMap<string, string>,
  name: string,
  find: (words: readonly Word[]) => number | undefined,
): ScriptCommand | undefined {
  const steps = stepsOf(scripts, name, { depth: 0, left: { scripts: MAX_SCRIPTS } });
  if (steps === undefined) return undefined;
  const at = steps.findIndex(({ command }) => find(command.words) !== undefined);
  const step = steps[at];
  const program = step && find(step.command.words);
  if (step === undefined || program === undefined) return undefined;
  const earlier = steps.slice(0, at);
  const later = steps.slice(at + 1).filter(({ command }) => command.joint !== '|');
  // Whether this command runs depends on the commands before it.
  if (step.command.joint === '||' || step.command.joint === '|') return undefined;
  if (earlier.some(({ command }) => !['', '&&', ';'].includes(command.joint))) return undefined;
  const [judging, before] = [true, false].map((wanted) =>
    earlier.filter(({ command }) => judges(command) === wanted).map(textOf),
  );
  return {
    script: step.script,
    text: step.command.text.trim(),
    words: trimmed(step.command),
    program,
    before: before ?? [],
    left: [...(judging ?? []), ...later.map(textOf)],
  };
}

/** Finds a program by its name. The words before it may only be words that run it. */
export function findProgram(names: readonly string[], words: readonly Word[]): number | undefined {
  const first = words.findIndex(({ text }) => !ASSIGNMENT.test(text));
  const head = programName(words[first]?.text ?? '');
  if (first === -1) return undefined;
  const found = words.findIndex((word, at) => {
    if (at < first || !names.includes(programName(word.text))) return false;
    if (at === first) return true;
    const before = words.slice(first, at).findLast(({ text }) => isNoOption(text));
    if (before === undefined) return false;
    return (
      WITH_OPTIONS.has(head) ||
      RUNS_NEXT.has(before.text) ||
      ASSIGNMENT.test(before.text) ||
      WRAPPERS.has(programName(before.text))
    );
  });
  return found === -1 ? undefined : found;
}

/**
 * Lists the commands of a script and of the scripts that it runs, in their order.
 *
 * @param search `left` counts down the scripts that may still be looked into, over the whole search
 * @returns `undefined` when a script needs a shell, or is beyond the limits
 */
function stepsOf(
  scripts: ReadonlyMap<string, string>,
  name: string,
  { depth, left }: { depth: number; left: { scripts: number } },
): Step[] | undefined {
  left.scripts -= 1;
  if (depth > MAX_DEPTH || left.scripts < 0) return undefined;
  const steps: Step[] = [];
  for (const script of [`pre${name}`, name, `post${name}`]) {
    const text = scripts.get(script);
    if (text === undefined) continue;
    if (text.length > MAX_SCRIPT_CHARS) return undefined;
    const commands = commandsIn(text);
    if (commands === undefined) return undefined;
    for (const command of commands) {
      const named = namedScripts(command.words, scripts);
      if (named === undefined) {
        steps.push({ script, command });
        continue;
      }
      const inner = named.map((each) => stepsOf(scripts, each, { depth: depth + 1, left }) ?? []);
      // One that can't be read is run as it is.
      if (inner.some((each) => each.length === 0)) steps.push({ script, command });
      else steps.push(...inner.flat());
      if (steps.length > MAX_STEPS) return undefined;
    }
  }
  return steps;
}

/** Returns the scripts that a command runs; `undefined` when it does something else. */
function namedScripts(
  words: readonly Word[],
  scripts: ReadonlyMap<string, string>,
): string[] | undefined {
  const [head = '', ...rest] = behindCoverage(words.map(({ text }) => text));
  const isQuiet = (text: string) => /^(-s|--silent|--quiet|-q|--if-present)$/.test(text);
  const given = rest.filter((text) => !isQuiet(text));
  if (['run-s', 'npm-run-all', 'npm-run-all2'].includes(head)) {
    return given.length <= MAX_NAMES && given.every((text) => !text.startsWith('-'))
      ? known(given.flatMap((text) => matching(text, scripts)))
      : undefined;
  }
  if (!['npm', 'pnpm', 'yarn', 'bun'].includes(head)) return undefined;
  const [verb = '', ...names] = given;
  if (['run', 'run-script'].includes(verb)) return names.length === 1 ? listed(names) : undefined;
  if (given.length !== 1 || (head === 'bun' && verb === 'test')) return undefined;
  return ['t', 'tst'].includes(verb) ? listed(['test']) : listed([verb]);

  function listed(wanted: readonly string[]): string[] | undefined {
    return wanted.every((each) => scripts.has(each)) ? [...wanted] : undefined;
  }
  function known(wanted: readonly string[]): string[] | undefined {
    return wanted.length > 0 ? listed(wanted) : undefined;
  }
}

// A coverage tool runs the script unchanged.
const COVERAGE = new Set(['c8', 'nyc']);
const MANAGERS = new Set(['npm', 'pnpm', 'yarn']);

function behindCoverage(words: readonly string[]): readonly string[] {
  const [head = ''] = words;
  const at = words.findIndex((word) => MANAGERS.has(word));
  return COVERAGE.has(head) && at !== -1 ? words.slice(at) : words;
}

function matching(pattern: string, scripts: ReadonlyMap<string, string>): string[] {
  if (!pattern.endsWith('*')) return [pattern];
  const start = pattern.replace(/(?<!\*)\*+$/, '');
  return [...scripts.keys()].filter((name) => name.startsWith(start));
}

function judges({ words }: CommandText): boolean {
  const first = words.find(({ text }) => !ASSIGNMENT.test(text) && text !== 'npx');
  return first !== undefined && JUDGES.test(programName(first.text));
}

function isNoOption(text: string): boolean {
  return !text.startsWith('-') || text === '--';
}

function textOf({ command }: Step): string {
  return command.text.trim();
}

/** Returns the words with their places counted from the first character that is not a space. */
function trimmed({ text, words }: CommandText): Word[] {
  const shift = text.length - text.trimStart().length;
  return words.map((word) => ({ ...word, start: word.start - shift, end: word.end - shift }));
}
