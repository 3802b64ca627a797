import type { SearchQuery } from './ripgrep-arguments.js';

/** With smart case, a pattern without a capital meets every case already. */
export function hasAnyCase({ pattern = '', case: kind }: SearchQuery): boolean {
  return kind === 'insensitive' || (kind === 'smart' && !/\p{Lu}/u.test(pattern));
}

/** The search in every case; `undefined` where it is that already. */
export function inOtherCase(query: SearchQuery): SearchQuery | undefined {
  return hasAnyCase(query) ? undefined : { ...query, case: 'insensitive' };
}

/** The search in every case, with any blanks between the words; `undefined` for one word. */
export function withOtherBlanks(query: SearchQuery): SearchQuery | undefined {
  const { pattern = '' } = query;
  if (!/\S\s+\S/.test(pattern)) return undefined;
  const words = pattern.trim().split(/\s+/);
  const near = words.map((word) => (query.fixedString ? escapePattern(word) : word)).join('\\s+');
  return { ...query, pattern: near, fixedString: false, case: 'insensitive' };
}

/** The pattern that matches a text. */
export function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
