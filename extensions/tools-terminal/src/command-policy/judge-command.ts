import { placeOf } from './changed-folders.js';
import { type Verdict, verdictOf } from './decision.js';
import { runsFetchedFile } from './fetched-files.js';
import { type InnerCommand, subscriptText } from './inner-commands/inner-command.js';
import { innerCommands } from './inner-commands.js';
import { afterChange, withKnownValues } from './known-values.js';
import { GLOB, isUnknown, SPLIT, toShellText } from './marked-text.js';
import { PartJudge } from './part-judge.js';
import { plainProblem } from './plain-command.js';
import type { CommandPolicy } from './policy-settings.js';
import type { PossibleFolders } from './possible-folders.js';
import { readCommands } from './read-commands.js';
import { setBy } from './set-variables.js';
import type { CommandInput, SimpleCommand } from './simple-command.js';
import { hasSubscript } from './subscripts.js';
import { commandOfWords } from './words-to-command.js';

const MAX_DEPTH = 8;
const MAX_COMMANDS = 5_000;
/**
 * How many characters a line may have. A longer one is not judged, because it would take too long.
 */
const MAX_LENGTH = 32_768;
/** How many words are read. A word that is read twice counts twice; a text counts as its words. */
const MAX_WORDS = 200_000;
const RULES_A_WORD = 50;
const TOO_MUCH = 'holds too many commands to judge them all';

/**
 * Judges a command line by a policy. It judges each command in the line, wherever it is and
 * whatever runs it. It runs nothing, and reads no files. The verdict catches mistakes and common
 * tricks; it is not a security boundary.
 *
 * @param command a line for bash
 * @param policy the policy, as `commandPolicySchema` parses it
 * @param options `workingDir` is an absolute path; commands may change files below it. `cwd` is the
 *   absolute path of the folder in which the line begins; `workingDir` when absent
 * @returns the strictest decision, with its reasons
 */
export function judgeCommand(
  command: string,
  policy: CommandPolicy,
  { workingDir, cwd = workingDir }: { workingDir: string; cwd?: string },
): Verdict {
  const judge = new PartJudge(policy);
  if (command.length > MAX_LENGTH) {
    judge.refuse(command, 'is too long to be judged: put it into a file, or split it');
    return verdictOf(judge.findings);
  }
  const problem = policy.shell ? undefined : plainProblem(command);
  if (problem !== undefined) judge.refusePlain(command, problem);
  const text = policy.shell ? withKnownValues(command) : command;
  new LineWalk(judge, policy.rules.length).text(text, {
    place: { workingDir, dirs: [cwd] },
    input: { from: 'nothing' },
    depth: 0,
    isWhole: true,
  });
  return verdictOf(judge.findings);
}

/** The place of a text. */
interface TextPlace {
  place: PossibleFolders;
  input: CommandInput;
  /** How many commands are around the text. */
  depth: number;
  /** Whether nothing around the text can have set variables. */
  isWhole: boolean;
}

/** The place of a command. */
type CommandPlace = Omit<TextPlace, 'input'>;

const HARMLESS_FILE = /^\/dev\/(null|stdin|stdout|stderr|tty|fd\/\d+)$/;
/**
 * Matches the beginning of a function in JavaScript, or of a call with arguments. Every shell
 * refuses a line that begins like this.
 */
const NO_SHELL_TEXT =
  /^\s*(?:(?:async\s+)?\([\s\w,]*\)\s*=>|[A-Za-z_]\w*(?:\.\w+)*\(\s*[\w'"`[{(])/;

function isUnderstood(text: string): boolean {
  return text.includes('\n') || readCommands(toShellText(text)).isComplete;
}

/** Whether a word may pass a variable, or evaluated text, to the shell that another command starts. */
function mayBeGiven(word: string): boolean {
  return /[=$`]/.test(word) || isUnknown(word) || word.includes(GLOB);
}

/** Finds the commands of a line, wherever they stand and whatever runs them, and has each judged. */
class LineWalk {
  readonly #judge: PartJudge;
  /** How many words a word of a command counts as: the more rules, the more. */
  readonly #wordCost: number;
  #commands = 0;
  #words = 0;
  /** How many of the commands around this one are guesses. */
  #guesses = 0;

  constructor(judge: PartJudge, rules: number) {
    this.#judge = judge;
    this.#wordCost = 1 + rules / RULES_A_WORD;
  }

  text(text: string, { place, input, depth, isWhole }: TextPlace): void {
    this.#words += text.length / 8;
    if (this.#isSpent(depth)) {
      this.#judge.refuse(text, TOO_MUCH);
      return;
    }
    const found = readCommands(text, input, isWhole);
    const sure = depth === 0 ? afterChange(text, place) : place;
    const inside = placeOf(sure === place ? found.commands : found.commands.slice(1), sure);
    if (!found.isComplete) {
      this.#judge.refuse(text, 'can not be understood as shell text');
    }
    for (const { name, source } of found.functions) {
      this.#judge.unlisted(source, 'defines a function, which may stand for what is allowed');
      if (found.forkBombs.has(name) && this.#judge.isOn('fork-bomb')) {
        this.#judge.find({
          decision: 'deny',
          rule: 'fork-bomb',
          command: source,
          why: 'starts itself again and again',
        });
      }
    }
    for (const { source, why } of found.questions) this.#judge.evaluates(source, why);
    for (const source of found.coprocesses) this.#judge.unlisted(source, 'runs beside the line');
    for (const { source, assignment } of found.assignments)
      this.#judge.assignment(assignment, source, inside);
    // A line may evaluate the same part several times; each part is reported once.
    for (const source of new Set(found.evaluations.unsure)) {
      this.#judge.evaluates(
        source,
        'takes for a number, or for the name of a variable, what is known only when it runs',
      );
    }
    const isSettled = isWhole && !found.evaluations.setsVariables;
    if (this.#judge.isOn('fetch-and-run')) {
      for (const { source } of runsFetchedFile(found.commands)) {
        this.#judge.find({
          decision: 'ask',
          rule: 'fetch-and-run',
          command: source,
          why: 'runs a file that the same line fetches',
        });
      }
    }
    for (const command of found.commands) {
      this.#command(command, { place: inside, depth, isWhole: isSettled });
    }
    if (!found.isArithmetic) return;
    for (const word of new Set(found.subscripts)) {
      const inner = subscriptText(word);
      if (inner.kind === 'text') {
        this.text(inner.text, { place: inside, input, depth: depth + 1, isWhole: true });
      }
    }
  }

  #command(command: SimpleCommand, at: CommandPlace): void {
    const { place, depth } = at;
    this.#commands += 1;
    this.#words += (1 + command.args.length) * this.#wordCost;
    if (this.#isSpent(depth)) {
      this.#judge.refuse(command.source, TOO_MUCH);
      return;
    }
    const part = { place, isGuess: this.#guesses > 0 };
    this.#judge.command(command, part);
    for (const redirect of command.redirects) {
      if (HARMLESS_FILE.test(redirect.target)) continue;
      const files = { ...command, redirects: [redirect] };
      if (redirect.writes) this.#judge.redirect('>', files, part);
      if (redirect.reads) this.#judge.redirect('<', files, part);
    }
    const isPrefix = command.name !== '';
    for (const assignment of command.assignments) {
      this.#judge.assignment({ ...assignment, isExported: isPrefix }, command.source, place);
      if (!hasSubscript(assignment.value)) continue;
      this.#inner(subscriptText(assignment.value), command, { ...at, depth: depth + 1 });
    }
    const set = part.isGuess ? [] : setBy(command);
    for (const assignment of set) this.#judge.assignment(assignment, command.source, place);
    const isSettled = at.isWhole && set.length === 0;
    const given = isSettled ? command.args.filter(mayBeGiven) : [];
    for (const inner of innerCommands(command)) {
      // A word that is the inner text itself passes nothing else to it.
      const isWhole =
        isSettled && given.every((word) => inner.kind === 'text' && word === inner.text);
      this.#inner(inner, command, { place, depth: depth + 1, isWhole });
      if (this.#isSpent(depth)) return;
    }
  }

  #isSpent(depth: number): boolean {
    return this.#commands > MAX_COMMANDS || this.#words > MAX_WORDS || depth > MAX_DEPTH;
  }

  #inner(inner: InnerCommand, outer: SimpleCommand, at: CommandPlace): void {
    const { place, depth, isWhole } = at;
    if (inner.kind === 'words') {
      const command = commandOfWords(inner.words, { ...outer, redirects: [], assignments: [] });
      // A guess may not be a command at all, e.g. the folder after an unknown option.
      if (inner.isGuess === true) this.#guesses += 1;
      this.#command(command, { ...at, place: placeOf([command], place) });
      if (inner.isGuess === true) this.#guesses -= 1;
      return;
    }
    if (isUnknown(inner.text)) {
      this.#judge.find({
        decision: 'ask',
        rule: 'unknown-text',
        command: outer.source,
        why: 'runs text that is known only when it runs',
      });
    }
    // Words that do not parse as shell text are most likely meant literally. A shell would run nothing of them.
    const count = inner.words?.length ?? 0;
    if (
      (count > 1 || (count === 1 && NO_SHELL_TEXT.test(inner.text))) &&
      !isUnderstood(inner.text)
    ) {
      this.#judge.evaluates(
        outer.source,
        'gives a shell words that, without their quotes, are no shell text',
      );
      this.#inner({ kind: 'words', words: inner.words ?? [] }, outer, at);
      return;
    }
    if (inner.text !== SPLIT)
      this.text(toShellText(inner.text), { place, input: outer.input, depth, isWhole });
  }
}
