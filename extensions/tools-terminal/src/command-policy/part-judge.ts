import { shorten } from '@ethosagent/policy';
import { isAssignmentPattern } from './command-pattern.js';
import type { Finding } from './decision.js';
import { isUnknown } from './marked-text.js';
import { decideByRules } from './operator-rules.js';
import type { CommandPolicy } from './policy-settings.js';
import type { PossibleFolders } from './possible-folders.js';
import { environment } from './rules/environment.js';
import { BUILT_IN_RULES } from './rules/index.js';
import type { BuiltInRule, Objection } from './rules/rule.js';
import { secretFiles } from './rules/secrets.js';
import type { CommandAssignment, SimpleCommand } from './simple-command.js';
import { commandOfWords, type Surroundings } from './words-to-command.js';

const MAX_SHOWN = 200;
/** Matches a name that has no meaning for bash, and that usual environments don't have. */
const LOCAL_NAME = /^(?!histchars$)[a-z][a-z0-9]*$/;
const UNLISTED_FILE: ReadonlyMap<string, string> = new Map([
  ['>', 'writes a file, and no rule such as `> out/*` allows it'],
  ['<', 'reads a file, and no rule such as `< data/*` allows it'],
]);
const ABOUT_VARIABLES: readonly BuiltInRule[] = [environment, secretFiles];
const NO_SURROUNDINGS: Surroundings = {
  assignments: [],
  redirects: [],
  input: { from: 'nothing' },
  embedsFetch: false,
  source: '',
};

interface PartPlace {
  place: PossibleFolders;
  /** Whether the command may not be one at all. Then only problems in it count. */
  isGuess: boolean;
}

/**
 * Returns the policy with its real default: without a shell, a command needs a rule that allows it.
 */
function withDefault(policy: CommandPolicy): CommandPolicy {
  return policy.shell || policy.default !== 'allow' ? policy : { ...policy, default: 'deny' };
}

/** Judges the parts of a line, each on its own, by the built-in rules and those of the operator. */
export class PartJudge {
  readonly findings: Finding[] = [];
  readonly #policy: CommandPolicy;

  constructor(policy: CommandPolicy) {
    this.#policy = withDefault(policy);
  }

  /** Denies a line that can't be judged. */
  refuse(command: string, why: string): void {
    this.find({ decision: 'deny', rule: 'unparseable', command, why });
  }

  /** Denies a line that is more than one command of plain words. */
  refusePlain(command: string, why: string): void {
    this.find({ decision: 'deny', rule: 'shell', command, why });
  }

  /** Judges a command with its input, but without its redirections and assignments. */
  command(command: SimpleCommand, { place, isGuess }: PartPlace): void {
    const { name } = command;
    if (name === undefined && !isGuess) {
      this.find({
        decision: 'ask',
        rule: 'unknown-command',
        command: command.source,
        why: 'has a name that is known only when it runs',
      });
    }
    if (name === '') return;
    const isAllowed = this.#byRules([command.written, ...command.args], {
      source: command.source,
      isGuess,
    });
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

  /**
   * Judges a file that a command reads (`<`) or writes (`>`).
   *
   * @param command the command, with this redirection alone
   */
  redirect(name: '>' | '<', command: SimpleCommand, { place, isGuess }: PartPlace): void {
    const { redirects, source } = command;
    const isAllowed = this.#byRules([name, redirects[0]?.target ?? ''], { source, isGuess });
    const alone = commandOfWords([], { ...NO_SURROUNDINGS, redirects, source });
    this.#builtIn(alone, place, () => isAllowed);
  }

  /** Judges the variables that a command sets. A rule about the command itself does not cover them. */
  assignment(assignment: CommandAssignment, source: string, place: PossibleFolders): void {
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
      if (!this.isOn(rule.name)) continue;
      const objection = rule.judge(commandOfWords([], alone), place);
      if (objection !== undefined && !isAllowed) this.#object(rule, objection, source);
    }
  }

  /** Denies data that bash may run, because no list of such commands is possible. */
  evaluates(command: string, why: string): void {
    const decision = this.#policy.default === 'deny' ? 'deny' : 'ask';
    this.find({ decision, rule: 'unknown-text', command, why });
  }

  /** When the default is to deny, a command that no rule can name is denied. */
  unlisted(source: string, why: string): void {
    const { default: decision } = this.#policy;
    if (decision !== 'allow') this.find({ decision, rule: 'default', command: source, why });
  }

  /** Applies the built-in rules. The operator can lift a rule that only asks. */
  #builtIn(
    command: SimpleCommand,
    place: PossibleFolders,
    isLifted: (rule: BuiltInRule, objection: Objection) => boolean,
  ): void {
    for (const rule of BUILT_IN_RULES) {
      if (!this.isOn(rule.name)) continue;
      const objection = rule.judge(command, place);
      if (objection === undefined) continue;
      if (objection.decision === 'ask' && isLifted(rule, objection)) continue;
      this.#object(rule, objection, command.source);
    }
  }

  #object(rule: BuiltInRule, { decision, why }: Objection, command: string): void {
    this.find({ decision, rule: rule.name, command, why });
  }

  /** Applies the operator's rules. Returns whether one of them allows the command. */
  #byRules(
    words: readonly [string, ...string[]],
    { source, isGuess }: { source: string; isGuess: boolean },
  ): boolean {
    const rules = this.#policy.rules.filter(({ command }) => !isAssignmentPattern(command));
    return this.#decide(rules, words, {
      source,
      isHarmless: isGuess,
      why: UNLISTED_FILE.get(words[0]) ?? 'is not among the commands that are allowed',
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
        this.find({ decision, rule: 'default', command: source, why });
      }
      return false;
    }
    const { decision, pattern } = found;
    if (decision !== 'allow') {
      const said = 'is named by a rule of the operator';
      this.find({ decision, rule: pattern, command: source, why: said });
    }
    return decision === 'allow';
  }

  /** Whether the operator left a built-in rule on. */
  isOn(rule: string): boolean {
    const { defaults } = this.#policy;
    return typeof defaults === 'boolean' ? defaults : !defaults.except.includes(rule);
  }

  /** Keeps a reason for the verdict. */
  find({ command, ...finding }: Finding): void {
    const line = command
      .slice(0, 4 * MAX_SHOWN)
      .trim()
      .replaceAll(/\s+/g, ' ');
    this.findings.push({ ...finding, command: shorten(line, MAX_SHOWN) });
  }
}
