import type { PossibleFolders } from '../possible-folders.js';
import type { SimpleCommand } from '../simple-command.js';

/** The objection of a built-in rule to a command. */
export interface Objection {
  decision: 'ask' | 'deny';
  /** What is wrong with the command. In a sentence, it comes after the command. */
  why: string;
}

/** A rule about single commands. */
export interface BuiltInRule {
  readonly name: string;
  /** What the rule is about, for people who decide whether they want it. */
  readonly about: string;
  judge(command: SimpleCommand, place: PossibleFolders): Objection | undefined;
}

/** Returns an objection that asks for approval. */
export function ask(why: string): Objection {
  return { decision: 'ask', why };
}

/** Returns an objection that refuses the command. No approval can change it. */
export function deny(why: string): Objection {
  return { decision: 'deny', why };
}

/** Returns the most severe of several objections. */
export function worst(objections: Iterable<Objection | undefined>): Objection | undefined {
  let found: Objection | undefined;
  for (const objection of objections) {
    if (objection !== undefined && (found === undefined || objection.decision === 'deny'))
      found = objection;
    if (found?.decision === 'deny') break;
  }
  return found;
}
