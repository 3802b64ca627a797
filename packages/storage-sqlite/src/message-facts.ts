import type { MessageRole } from '@ethosagent/types';

/** Returns the facts by which messages are filtered, as words of the index. */
export function factsOf(facts: { owner: number; session: number; role: MessageRole }): string {
  return [ownerFact(facts.owner), sessionFact(facts.session), roleFact(facts.role)].join(' ');
}

export function ownerFact(owner: number): string {
  return `owner${owner}`;
}

export function sessionFact(session: number): string {
  return `session${session}`;
}

export function roleFact(role: MessageRole): string {
  return `role${role}`;
}
