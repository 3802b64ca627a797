import { shorten } from '@ethosagent/policy';
import { placeOf } from './changed-folders.js';
import { isAssignmentPattern } from './command-pattern.js';
import { type Finding, type Verdict, verdictOf } from './decision.js';
import { runsFetchedFile } from './fetched-files.js';
import { type InnerCommand, subscriptText } from './inner-commands/inner-command.js';
import { innerCommands } from './inner-commands.js';
import { afterChange, withKnownValues } from './known-values.js';
import { GLOB, isUnknown, SPLIT, toShellText } from './marked-text.js';
import { decideByRules } from './operator-rules.js';
import { plainProblem } from './plain-command.js';
import type { CommandPolicy } from './policy-settings.js';
import type { PossibleFolders } from './possible-folders.js';
import { readCommands } from './read-commands.js';
import { environment } from './rules/environment.js';
import { BUILT_IN_RULES } from './rules/index.js';
import type { BuiltInRule, Objection } from './rules/rule.js';
import { secretFiles } from './rules/secrets.js';
import { setBy } from './set-variables.js';
import type { CommandAssignment, CommandInput, SimpleCommand } from './simple-command.js';
import { hasSubscript } from './subscripts.js';
import { commandOfWords, type Surroundings } from './words-to-command.js';

const MAX_DEPTH = 8;
const MAX_COMMANDS = 5_000;
/**
 * How many characters a line may have. A longer one is not judged, because it would take too long.
 */
const MAX_LENGTH = 32_768;
/** How many words are read. A word that is read twice counts twice; a text counts as its words. */
const MAX_WORDS = 200_000;
const RULES_A_WORD = 50;
const MAX_SHOWN = 200;
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
  const judge = new Judge(policy);
  if (command.length > MAX_LENGTH) {
    judge.refuse(command, 'is too long to be judged: put it into a file, or split it');
    return verdictOf(judge.findings);
  }
  const problem = policy.shell ? undefined : plainProblem(command);
  if (problem !== undefined) judge.refusePlain(command, problem);
  const text = policy.shell ? withKnownValues(command) : command;
  judge.text(text, {
    place: { workingDir, dirs: [cwd] },
    input: { from: 'nothing' },
    depth: 0,
    isWhole: true,
  });
  return verdictOf(judge.findings);
}

/**
 * Returns the policy with its real default: without a shell, a command needs a rule that allows it.
 */
function withDefault(policy: CommandPolicy): CommandPolicy {
  return policy.shell || policy.default !== 'allow' ? policy : { ...policy, default: 'deny' };
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
/** Matches a name that has no meaning for bash, and that usual environments don't have. */
const LOCAL_NAME = /^(?!histchars$)[a-z][a-z0-9]*$/;
const UNLISTED_FILE: ReadonlyMap<string, string> = new Map([
  ['>', 'writes a file, and no rule such as `> out/*` allows it'],
  ['<', 'reads a file, and no rule such as `< data/*` allows it'],
]);
/**
 * Matches the beginning of a function in JavaScript, or of a call with arguments. Every shell
 * refuses a line that begins like this.
 */
const NO_SHELL_TEXT =
  /^\s*(?:(?:async\s+)?\([\s\w,]*\)\s*=>|[A-Za-z_]\w*(?:\.\w+)*\(\s*[\w'"`[{(])/;
const ABOUT_VARIABLES: readonly BuiltInRule[] = [environment, secretFiles];
const NO_SURROUNDINGS: Surroundings = {
  assignments: [],
  redirects: [],
  input: { from: 'nothing' },
  embedsFetch: false,
  source: '',
};

function isUnderstood(text: string): boolean {
  return text.includes('\n') || readCommands(toShellText(text)).isComplete;
}

/** Whether a word may pass a variable, or evaluated text, to the shell that another command starts. */
function mayBeGiven(word: string): boolean {
  return /[=$`]/.test(word) || isUnknown(word) || word.includes(GLOB);
}

class Judge {
  readonly findings: Finding[] = [];
  readonly #policy: CommandPolicy;
  #commands = 0;
  #words = 0;
  /** How many of the commands around this one are guesses. */
  #guesses = 0;

  constructor(policy: CommandPolicy) {
    this.#policy = withDefault(policy);
  }

  /** Denies a line that can't be judged. */
  refuse(command: string, why: string): void {
    this.#find({ decision: 'deny', rule: 'unparseable', command, why });
  }

  /** Denies a line that is more than one command of plain words. */
  refusePlain(command: string, why: string): void {
    this.#find({ decision: 'deny', rule: 'shell', command, why });
  }

  text(text: string, { place, input, depth, isWhole }: TextPlace): void {
    this.#words += text.length / 8;
    if (this.#isSpent(depth)) {
      this.refuse(text, TOO_MUCH);
      return;
    }
    const found = readCommands(text, input, isWhole);
    const sure = depth === 0 ? afterChange(text, place) : place;
    const inside = placeOf(sure === place ? found.commands : found.commands.slice(1), sure);
    if (!found.isComplete) {
      this.refuse(text, 'can not be understood as shell text');
    }
    for (const { name, source } of found.functions) {
      this.#unlisted(source, 'defines a function, which may stand for what is allowed');
      if (found.forkBombs.has(name) && this.#isOn('fork-bomb')) {
        this.#find({
          decision: 'deny',
          rule: 'fork-bomb',
          command: source,
          why: 'starts itself again and again',
        });
      }
    }
    for (const { source, why } of found.questions) this.#evaluates(source, why);
    for (const source of found.coprocesses) this.#unlisted(source, 'runs beside the line');
    for (const { source, assignment } of found.assignments)
      this.#assignment(assignment, source, inside);
    // A line may evaluate the same part several times; each part is reported once.
    for (const source of new Set(found.evaluations.unsure)) {
      this.#evaluates(
        source,
        'takes for a number, or for the name of a variable, what is known only when it runs',
      );
    }
    const isSettled = isWhole && !found.evaluations.setsVariables;
    if (this.#isOn('fetch-and-run')) {
      for (const { source } of runsFetchedFile(found.commands)) {
        this.#find({
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
    this.#words += (1 + command.args.length) * (1 + this.#policy.rules.length / RULES_A_WORD);
    if (this.#isSpent(depth)) {
      this.refuse(command.source, TOO_MUCH);
      return;
    }
    this.#judge(command, place);
    for (const redirect of command.redirects) {
      if (HARMLESS_FILE.test(redirect.target)) continue;
      const files = { ...command, redirects: [redirect] };
      if (redirect.writes) this.#redirect('>', files, place);
      if (redirect.reads) this.#redirect('<', files, place);
    }
    const isPrefix = command.name !== '';
    for (const assignment of command.assignments) {
      this.#assignment({ ...assignment, isExported: isPrefix }, command.source, place);
      if (!hasSubscript(assignment.value)) continue;
      this.#inner(subscriptText(assignment.value), command, { ...at, depth: depth + 1 });
    }
    const set = this.#guesses === 0 ? setBy(command) : [];
    for (const assignment of set) this.#assignment(assignment, command.source, place);
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

  #redirect(name: '>' | '<', command: SimpleCommand, place: PossibleFolders): void {
    const { redirects, source } = command;
    const isAllowed = this.#byRules(name, [redirects[0]?.target ?? ''], command);
    const alone = commandOfWords([], { ...NO_SURROUNDINGS, redirects, source });
    this.#builtIn(alone, place, () => isAllowed);
  }

  /** Judges the variables that a command sets. A rule about the command itself does not cover them. */
  #assignment(assignment: CommandAssignment, source: string, place: PossibleFolders): void {
    const { name, value, isExported } = assignment;
    const word = `${name}${assignment.appends === true ? '+' : ''}=${value}`;
    const isLocal = isExported !== true && LOCAL_NAME.test(name);
    const isAllowed = this.#decide(
      this.#policy.rules.filter(({ command }) => isAssignmentPattern(command)),
      [word],
      {
        source,
        isHarmless: isLocal,
        why: isUnknown(name)
          ? 'sets a variable that is known only when it runs'
          : `sets ${name}, and no rule such as \`${name}=*\` allows it`,
      },
    );
    const alone = { ...NO_SURROUNDINGS, assignments: [assignment], source };
    for (const rule of ABOUT_VARIABLES) {
      if (!this.#isOn(rule.name)) continue;
      const objection = rule.judge(commandOfWords([], alone), place);
      if (objection !== undefined && !isAllowed) this.#object(rule, objection, source);
    }
  }

  /** Denies data that bash may run, because no list of such commands is possible. */
  #evaluates(command: string, why: string): void {
    const decision = this.#policy.default === 'deny' ? 'deny' : 'ask';
    this.#find({ decision, rule: 'unknown-text', command, why });
  }

  /** When the default is to deny, a command that no rule can name is denied. */
  #unlisted(source: string, why: string): void {
    const { default: decision } = this.#policy;
    if (decision !== 'allow') this.#find({ decision, rule: 'default', command: source, why });
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
      this.#find({
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
      this.#evaluates(
        outer.source,
        'gives a shell words that, without their quotes, are no shell text',
      );
      this.#inner({ kind: 'words', words: inner.words ?? [] }, outer, at);
      return;
    }
    if (inner.text !== SPLIT)
      this.text(toShellText(inner.text), { place, input: outer.input, depth, isWhole });
  }

  #judge(command: SimpleCommand, place: PossibleFolders): void {
    const { name } = command;
    if (name === undefined && this.#guesses === 0) {
      this.#find({
        decision: 'ask',
        rule: 'unknown-command',
        command: command.source,
        why: 'has a name that is known only when it runs',
      });
    }
    if (name === '') return;
    const isAllowed = this.#byRules(command.written, command.args, command);
    // A rule that allows covers the words only, not the input of the command.
    const words = {
      ...command,
      ...NO_SURROUNDINGS,
      source: command.source,
      embedsFetch: command.embedsFetch,
    };
    const asked = new Set<string>();
    this.#builtIn(words, place, (rule, { why }) => {
      asked.add(`${rule.name} ${why}`);
      return isAllowed;
    });
    if (command.input.from === 'nothing') return;
    this.#builtIn({ ...words, input: command.input }, place, (rule, { why }) =>
      asked.has(`${rule.name} ${why}`),
    );
  }

  /** Applies the built-in rules. The operator can lift a rule that only asks. */
  #builtIn(
    command: SimpleCommand,
    place: PossibleFolders,
    isLifted: (rule: BuiltInRule, objection: Objection) => boolean,
  ): void {
    for (const rule of BUILT_IN_RULES) {
      if (!this.#isOn(rule.name)) continue;
      const objection = rule.judge(command, place);
      if (objection === undefined) continue;
      if (objection.decision === 'ask' && isLifted(rule, objection)) continue;
      this.#object(rule, objection, command.source);
    }
  }

  #object(rule: BuiltInRule, { decision, why }: Objection, command: string): void {
    this.#find({ decision, rule: rule.name, command, why });
  }

  /** Applies the operator's rules. Returns whether one of them allows the command. */
  #byRules(written: string, args: readonly string[], { source }: SimpleCommand): boolean {
    const rules = this.#policy.rules.filter(({ command }) => !isAssignmentPattern(command));
    return this.#decide(rules, [written, ...args], {
      source,
      isHarmless: this.#guesses > 0,
      why: UNLISTED_FILE.get(written) ?? 'is not among the commands that are allowed',
    });
  }

  #decide(
    rules: CommandPolicy['rules'],
    [written = '', ...args]: readonly string[],
    { source, isHarmless, why }: { source: string; isHarmless: boolean; why: string },
  ): boolean {
    const found = decideByRules(rules, [written, ...args]);
    if (found === undefined) {
      const { default: decision } = this.#policy;
      if (decision !== 'allow' && !isHarmless) {
        this.#find({ decision, rule: 'default', command: source, why });
      }
      return false;
    }
    const { decision, pattern } = found;
    if (decision !== 'allow') {
      const said = 'is named by a rule of the operator';
      this.#find({ decision, rule: pattern, command: source, why: said });
    }
    return decision === 'allow';
  }

  #isOn(rule: string): boolean {
    const { defaults } = this.#policy;
    return typeof defaults === 'boolean' ? defaults : !defaults.except.includes(rule);
  }

  #find({ command, ...finding }: Finding): void {
    const line = command
      .slice(0, 4 * MAX_SHOWN)
      .trim()
      .replaceAll(/\s+/g, ' ');
    this.findings.push({ ...finding, command: shorten(line, MAX_SHOWN) });
  }
}
