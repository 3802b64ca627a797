import type { SearchPhrase } from '@ethosagent/policy';

/**
 * What FTS5 is asked: phrases of words, which hold nothing but letters and digits, in some columns
 * of the rows with all the facts. So no text of a caller's is ever an operator.
 */
export function ftsQuery(
  phrases: readonly SearchPhrase[],
  join: 'AND' | 'OR',
  { facts, columns }: Record<'facts' | 'columns', readonly string[]>,
): string {
  const asked = phrases.map((phrase) => `"${phrase.join(' ')}"`).join(` ${join} `);
  const words = `{${columns.join(' ')}} : (${asked})`;
  return facts.length === 0 ? words : `facts : (${facts.join(' AND ')}) AND ${words}`;
}
