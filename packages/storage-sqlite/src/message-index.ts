import type { MessageRole } from '@ethosagent/types';
import type { Connection } from './driver/connection.js';

/** The facts by which a message is filtered. Owner and session are their row ids. */
interface MessageFacts {
  owner: number;
  session: number;
  role: MessageRole;
}

/** The words of a message, and their other forms, as `indexedWords` returns them. */
interface MessageWords {
  words: string;
  stems: string;
}

/** Prepares the function that adds a message to the index. */
export function prepareIndexing(db: Connection) {
  const add = db.prepare<[id: number | bigint, facts: string, words: string, stems: string]>(
    'INSERT INTO message_words (rowid, facts, words, stems) VALUES (?, ?, ?, ?)',
  );
  return (id: number | bigint, facts: MessageFacts, { words, stems }: MessageWords): void => {
    // Every search asks for a word, so a message without words is never found.
    if (words !== '') add.run(id, factsOf(facts), words, stems);
  };
}

/** Returns the facts by which messages are filtered, as words of the index. */
function factsOf(facts: MessageFacts): string {
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
