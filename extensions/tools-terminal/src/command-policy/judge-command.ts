import { shorten } from '@ethosagent/policy';
import { placeOf } from './changed-folders.js';
import { commandForms } from './command-forms.js';
import { matchesPattern } from './command-pattern.js';
import { type Finding, type Verdict, verdictOf } from './decision.js';
import { runsFetchedFile } from './fetched-files.js';
import { type InnerCommand, innerCommands, subscriptText } from './inner-commands.js';
import { afterChange, withKnownValues } from './known-values.js';
import { isUnknown, SPLIT, toShellText } from './marked-text.js';
import type { CommandPolicy } from './policy-settings.js';
import type { PossibleFolders } from './possible-folders.js';
import { readCommands } from './read-commands.js';
import { BUILT_IN_RULES } from './rules/index.js';
import type { CommandInput, SimpleCommand } from './simple-command.js';
import { hasSubscript } from './subscripts.js';
import { commandOfWords, nameOf } from './words-to-command.js';

const MAX_DEPTH = 8;
const MAX_COMMANDS = 5_000;
/** Characters of a line that is judged. */
const MAX_LENGTH = 32_768;
/** Words that are looked at, each as often as it is; text counts as its words would. */
const MAX_WORDS = 200_000;
const RULES_A_WORD = 50;
const MAX_SHOWN = 200;
const TOO_MUCH = 'holds too many commands to judge them all';

/**
 * Says what a policy has to say to a command line: to each command in it, wherever it stands and
 * whatever runs it. Nothing is run, read or looked up.
 *
 * @param workingDir absolute; what is below it is the command's to change
 * @param cwd absolute; where the command line begins. The working directory when absent
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
  const text = withKnownValues(command);
  judge.text(text, { place: { workingDir, dirs: [cwd] }, input: { from: 'nothing' }, depth: 0 });
  return verdictOf(judge.findings);
}

/** Where a text stands. */
interface TextPlace {
  place: PossibleFolders;
  input: CommandInput;
  /** How many commands are around it. */
  depth: number;
}

class Judge {
  readonly findings: Finding[] = [];
  readonly #policy: CommandPolicy;
  #commands = 0;
  #words = 0;
  /** How many of the commands around are such only perhaps. */
  #guesses = 0;

  constructor(policy: CommandPolicy) {
    this.#policy = policy;
  }

  /** Denies what can not be judged. */
  refuse(command: string, why: string): void {
    this.#find({ decision: 'deny', rule: 'unparseable', command, why });
  }

  text(text: string, { place, input, depth }: TextPlace): void {
    this.#words += text.length / 8;
    if (this.#isSpent(depth)) {
      this.refuse(text, TOO_MUCH);
      return;
    }
    const found = readCommands(text, input);
    const sure = depth === 0 ? afterChange(text, place) : place;
    const inside = placeOf(sure === place ? found.commands : found.commands.slice(1), sure);
    if (!found.isComplete) {
      this.refuse(text, 'can not be understood as shell text');
    }
    for (const { name, source } of found.functions) {
      if (found.forkBombs.has(name) && this.#isOn('fork-bomb')) {
        this.#find({
          decision: 'deny',
          rule: 'fork-bomb',
          command: source,
          why: 'starts itself again and again',
        });
      }
    }
    for (const { source, why } of found.questions)
      this.#find({ decision: 'ask', rule: 'unknown-text', command: source, why });
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
    for (const command of found.commands) this.#command(command, inside, depth);
    if (!found.isArithmetic) return;
    for (const word of new Set(found.subscripts)) {
      const inner = subscriptText(word);
      if (inner.kind === 'text') this.text(inner.text, { place: inside, input, depth: depth + 1 });
    }
  }

  #command(command: SimpleCommand, place: PossibleFolders, depth: number): void {
    this.#commands += 1;
    this.#words += (1 + command.args.length) * (1 + this.#policy.rules.length / RULES_A_WORD);
    if (this.#isSpent(depth)) {
      this.refuse(command.source, TOO_MUCH);
      return;
    }
    this.#judge(command, place);
    for (const redirect of command.redirects) {
      if (redirect.writes && !/^\/dev\/(null|stdout|stderr|tty|fd\/\d+)$/.test(redirect.target)) {
        this.#byRules('>', [redirect.target], command);
      }
    }
    for (const { value } of command.assignments) {
      if (hasSubscript(value))
        this.#inner(subscriptText(value), command, { place, depth: depth + 1 });
    }
    for (const inner of innerCommands(command)) {
      this.#inner(inner, command, { place, depth: depth + 1 });
      if (this.#isSpent(depth)) return;
    }
  }

  #isSpent(depth: number): boolean {
    return this.#commands > MAX_COMMANDS || this.#words > MAX_WORDS || depth > MAX_DEPTH;
  }

  #inner(
    inner: InnerCommand,
    outer: SimpleCommand,
    { place, depth }: Omit<TextPlace, 'input'>,
  ): void {
    if (inner.kind === 'words') {
      const command = commandOfWords(inner.words, { ...outer, redirects: [], assignments: [] });
      // What stands for itself, such as a folder after an option that is not known, is no command.
      if (inner.isGuess === true) this.#guesses += 1;
      this.#command(command, placeOf([command], place), depth);
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
    if (inner.text !== SPLIT)
      this.text(toShellText(inner.text), { place, input: outer.input, depth });
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
    const allowed = name !== '' && this.#byRules(command.written, command.args, command);
    for (const rule of BUILT_IN_RULES) {
      if (!this.#isOn(rule.name)) continue;
      const objection = rule.judge(command, place);
      if (objection === undefined || (objection.decision === 'ask' && allowed)) continue;
      this.#find({
        decision: objection.decision,
        rule: rule.name,
        command: command.source,
        why: objection.why,
      });
    }
  }

  /** Applies the operator's rules; says whether one of them allows the command. */
  #byRules(written: string, args: readonly string[], { source }: SimpleCommand): boolean {
    const forms = commandForms([nameOf(written) ?? SPLIT, ...args]);
    let strictest: 'allow' | 'ask' | 'deny' | undefined;
    let pattern = '';
    for (const { command, decision } of this.#policy.rules) {
      if (strictest === 'deny' || (strictest === 'ask' && decision === 'allow')) continue;
      const found =
        decision === 'allow'
          ? // Another program of the same name is not the one that was allowed.
            matchesPattern(command, [written, ...args], 'surely') && decision
          : matched(withoutFolder(command), forms, decision);
      if (found === false) continue;
      strictest = found;
      pattern = command;
    }
    if (strictest === undefined) {
      const otherwise = this.#policy.default;
      if (otherwise !== 'allow' && this.#guesses === 0) {
        this.#find({
          decision: otherwise,
          rule: 'default',
          command: source,
          why: 'is not among the commands that are allowed',
        });
      }
      return false;
    }
    if (strictest !== 'allow') {
      this.#find({
        decision: strictest,
        rule: pattern,
        command: source,
        why: 'is named by a rule of the operator',
      });
    }
    return strictest === 'allow';
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

/** What a rule that asks or denies says. What only may be meant is no reason to refuse it unasked. */
function matched(
  pattern: string,
  forms: readonly (readonly string[])[],
  decision: 'ask' | 'deny',
): 'ask' | 'deny' | false {
  if (forms.some((words) => matchesPattern(pattern, words, 'surely'))) return decision;
  return forms.some((words) => matchesPattern(pattern, words, 'perhaps')) && 'ask';
}

/** A pattern whose first word is a name without its folder. */
function withoutFolder(pattern: string): string {
  const [first = '', ...rest] = pattern.trim().split(/\s+/);
  return [first.slice(first.lastIndexOf('/') + 1) || first, ...rest].join(' ');
}
