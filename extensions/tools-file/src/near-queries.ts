import type { SearchQuery } from './ripgrep-arguments.js';

/** Whether a search ignores case. Smart case does when the pattern has no capital letter. */
export function hasAnyCase({ pattern = '', case: kind }: SearchQuery): boolean {
  return kind === 'insensitive' || (kind === 'smart' && !/\p{Lu}/u.test(pattern));
}

/** Returns the same search, ignoring case; `undefined` when it already does. */
export function inOtherCase(query: SearchQuery): SearchQuery | undefined {
  return hasAnyCase(query) ? undefined : { ...query, case: 'insensitive' };
}

/**
 * Returns the same search, ignoring case and with any blanks between words; `undefined` for a
 * single word.
 */
export function withOtherBlanks(query: SearchQuery): SearchQuery | undefined {
  const { pattern = '' } = query;
  if (!/\S\s+\S/.test(pattern)) return undefined;
  const words = pattern.trim().split(/\s+/);
  const near = words.map((word) => (query.fixedString ? escapePattern(word) : word)).join('\\s+');
  return { ...query, pattern: near, fixedString: false, case: 'insensitive' };
}

export function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
