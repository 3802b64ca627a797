import type { PossibleFolders } from '../possible-folders.js';
import type { SimpleCommand } from '../simple-command.js';

/** What a built-in rule says to a command. */
export interface Objection {
  decision: 'ask' | 'deny';
  /** What is wrong with it. In a sentence, it comes after the command. */
  why: string;
}

/** A rule about single commands. */
export interface BuiltInRule {
  readonly name: string;
  /** For people who decide whether they want it. */
  readonly about: string;
  judge(command: SimpleCommand, place: PossibleFolders): Objection | undefined;
}

/** Asks first. */
export function ask(why: string): Objection {
  return { decision: 'ask', why };
}

/** Refuses. No approval can change it. */
export function deny(why: string): Objection {
  return { decision: 'deny', why };
}

/** The most severe of several. */
export function worst(objections: Iterable<Objection | undefined>): Objection | undefined {
  let found: Objection | undefined;
  for (const objection of objections) {
    if (objection !== undefined && (found === undefined || objection.decision === 'deny'))
      found = objection;
    if (found?.decision === 'deny') break;
  }
  return found;
}
