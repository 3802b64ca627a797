import { indexedWords } from '@ethosagent/policy';
import type pg from 'pg';
import { indexedStem } from '../sessions/indexed-words.js';

/** The number of messages that are read at once. A text may have a million characters. */
const PAGE = 50;

/** Adds the other forms of its words to `words` of each existing message. */
export const messageStems = (schema: string) => async (client: pg.PoolClient) => {
  let last = ['0', '0'];
  for (;;) {
    const { rows } = await client.query<{ session: string; sequence: string; text: Buffer }>(
      `SELECT session, sequence, text FROM ${schema}.message
       WHERE (session, sequence) > ($1::bigint, $2::bigint) ORDER BY session, sequence LIMIT ${PAGE}`,
      last,
    );
    const stems = rows.map(({ text }) => indexedWords(text.toString()).stems);
    await client.query(
      `UPDATE ${schema}.message AS m SET words = m.words || string_to_array(given.stems, ' ')
       FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS given (session, sequence, stems)
       WHERE m.session = given.session AND m.sequence = given.sequence AND given.stems <> ''`,
      [
        rows.map(({ session }) => session),
        rows.map(({ sequence }) => sequence),
        stems.map((list) => (list === '' ? '' : list.split(' ').map(indexedStem).join(' '))),
      ],
    );
    const end = rows.at(-1);
    if (end === undefined || rows.length < PAGE) return;
    last = [end.session, end.sequence];
  }
};
