import { indexedWords, TWO_WORD_CHARACTERS } from '@ethosagent/policy';
import type pg from 'pg';
import { wordsForIndex } from '../sessions/indexed-words.js';

/** The number of messages that are read at once. A text may have a million characters. */
const PAGE = 50;

/** Writes `words` of each existing message anew: they have the other forms of the words, too. */
export const messageStems = (schema: string) => (client: pg.PoolClient) =>
  indexMessages(client, schema, 'true');

/** The same for the messages with a character that `searchWords` began to read as two words. */
export const twoWordCharacters = (schema: string) => (client: pg.PoolClient) =>
  indexMessages(
    client,
    schema,
    TWO_WORD_CHARACTERS.map(
      (character) => `position(convert_to('${character}', 'UTF8') IN text) > 0`,
    ).join(' OR '),
  );

/** @param isMeant SQL: which messages are indexed anew */
async function indexMessages(
  client: pg.PoolClient,
  schema: string,
  isMeant: string,
): Promise<void> {
  let last = ['0', '0'];
  for (;;) {
    const { rows } = await client.query<{ session: string; sequence: string; text: Buffer }>(
      `SELECT session, sequence, text FROM ${schema}.message
       WHERE (session, sequence) > ($1::bigint, $2::bigint) AND (${isMeant})
       ORDER BY session, sequence LIMIT ${PAGE}`,
      last,
    );
    // The first two are the facts of a message.
    await client.query(
      `UPDATE ${schema}.message AS m SET words = m.words[1:2] || string_to_array(given.words, ' ')
       FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS given (session, sequence, words)
       WHERE m.session = given.session AND m.sequence = given.sequence`,
      [
        rows.map(({ session }) => session),
        rows.map(({ sequence }) => sequence),
        rows.map(({ text }) => wordsForIndex(indexedWords(text.toString()))),
      ],
    );
    const end = rows.at(-1);
    if (end === undefined || rows.length < PAGE) return;
    last = [end.session, end.sequence];
  }
}
