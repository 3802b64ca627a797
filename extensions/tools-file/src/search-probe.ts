import { escapePattern, hasAnyCase, withOtherBlanks } from './near-queries.js';
import type { SearchQuery } from './ripgrep-arguments.js';
import type { SearchFindings } from './search-answer.js';

/** A wider search. When the search itself finds nothing, the wider one shows what is near. */
export interface SearchProbe {
  /** The wider search. It finds everything that the search itself finds. */
  query: SearchQuery;
  /** Whether the search itself would find exactly these findings of the wider search. */
  isSame(findings: SearchFindings): boolean;
}

/**
 * Returns the same search with any blanks between the words, if its pattern is plain words. For
 * these, the text of a found line tells whether the search itself matches it. So ripgrep runs only
 * once when nothing is near.
 */
export function probeOf(query: SearchQuery): SearchProbe | undefined {
  const { pattern } = query;
  const near = withOtherBlanks(query);
  if (pattern === undefined || near === undefined) return undefined;
  if (!/^[ -~]+$/.test(pattern)) return undefined;
  if (!query.fixedString && escapePattern(pattern) !== pattern) return undefined;
  const exact = new RegExp(escapePattern(pattern), hasAnyCase(query) ? 'iu' : 'u');
  return {
    query: near,
    isSame: (findings) =>
      findings.mode === 'content' &&
      !findings.hasMore &&
      findings.files.every(({ hits, lines }) =>
        hits.every(({ line, column }) => {
          const text = lines?.(line) ?? '';
          const at = exact.exec(text)?.index;
          return at !== undefined && Buffer.byteLength(text.slice(0, at)) === column - 1;
        }),
      ),
  };
}
