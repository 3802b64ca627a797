import type { SearchQuery } from './ripgrep-arguments.js';

/** Smart case: a pattern without a capital letter matches every case already. */
export function hasAnyCase({ pattern = '', case: kind }: SearchQuery): boolean {
  return kind === 'insensitive' || (kind === 'smart' && !/\p{Lu}/u.test(pattern));
}

/** The search without regard to case; `undefined` when it has none already. */
export function inOtherCase(query: SearchQuery): SearchQuery | undefined {
  return hasAnyCase(query) ? undefined : { ...query, case: 'insensitive' };
}

/** The search without regard to case, with any blanks between the words; `undefined` for one word. */
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
