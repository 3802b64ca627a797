import { TWO_WORD_CHARACTERS } from '@ethosagent/policy';

/** SQL: whether a text of a column has a character that is two words, also after a NUL. */
export function hasTwoWordCharacter(column: string): string {
  const text = `CAST(${column} AS BLOB)`;
  return TWO_WORD_CHARACTERS.map(
    (character) => `instr(${text}, CAST('${character}' AS BLOB)) > 0`,
  ).join(' OR ');
}
