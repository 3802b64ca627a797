import { oneLine } from './one-line.js';
import type { SearchQuery } from './search-provider.js';
import type { FoundPage } from './search-results.js';

const MAX_NOTES = 5;
const MAX_NOTE_CHARS = 700;

/** What is shown beside the results. */
export interface SearchView {
  provider: string;
  query: SearchQuery;
  /** The filters of the query that the provider does not support. */
  ignored: ReadonlyArray<keyof SearchQuery>;
  notes: readonly string[];
  maxChars: number;
}

/** Renders the results: for the model as many as fit, and in `structured` all of them. */
export function renderSearch(
  results: readonly FoundPage[],
  { provider, query, ignored, notes, maxChars }: SearchView,
): { value: string; structured: Record<string, unknown> } {
  // A provider's notes are cut to one line each, so that they can't look like lines of the tool or take the
  // room of the results.
  const foot = notes.slice(0, MAX_NOTES).map((note) => oneLine(note, MAX_NOTE_CHARS));
  if (ignored.length > 0) foot.push(`${provider} can not filter by ${ignored.join(', ')}.`);
  const foots = foot.map((note) => `[${note}]`).join('\n');
  const blocks = results.map(renderResult);
  let room = maxChars - foots.length - 100;
  let shown = 0;
  for (const block of blocks) {
    room -= block.length + 2;
    if (room < 0) break;
    shown += 1;
  }
  const parts = blocks.slice(0, shown);
  if (results.length === 0) parts.push(`No results for "${query.query}".`);
  if (shown < results.length) parts.push(`[${results.length - shown} more results are left out]`);
  if (foots !== '') parts.push(foots);
  return {
    value: parts.join('\n\n'),
    structured: { provider, query: { ...query }, results: [...results], ignored: [...ignored] },
  };
}

function renderResult({ title, url, snippet, publishedAt }: FoundPage, at: number): string {
  const date = publishedAt === undefined ? '' : ` (${publishedAt.slice(0, 10)})`;
  const text = snippet === '' ? '' : `\n   ${snippet}`;
  return `${at + 1}. ${title}${date}\n   ${url}${text}`;
}
