import type { SearchTerm } from './search-terms.js';
import { searchWords, type TextWord } from './search-words.js';
import { otherForms } from './word-stems.js';

/** The place of a search term in a text, in UTF-16 units. */
export interface TermHit {
  /** The index of the term. */
  term: number;
  start: number;
  end: number;
  /** Whether the text has the term itself, and not another form of it. */
  isExact: boolean;
}

/** The places of terms in a text, in the order of their ends. */
export function* findTerms(text: string, terms: readonly SearchTerm[]): Generator<TermHit> {
  const byLastWord = new Map<string, number[]>();
  const byStem = new Map<string, number>();
  const initials = new Set<string>();
  let longest = 0;
  terms.forEach(({ words, stem }, index) => {
    const last = words.at(-1);
    if (last === undefined) return;
    byLastWord.set(last, [...(byLastWord.get(last) ?? []), index]);
    longest = Math.max(longest, words.length);
    if (stem === undefined) return;
    byStem.set(stem, index);
    initials.add(stem.charAt(0));
  });
  // A stem begins with the same letter as its word. Only a part of a name in the middle of a word
  // may begin with another letter.
  const mayHaveStem = ({ word, start, end }: TextWord) =>
    initials.has(word.charAt(0)) ||
    (initials.size > 0 && /[a-z][A-Z]/.test(text.slice(start, end)));
  const recent: { word: string; start: number }[] = [];
  for (const each of searchWords(text)) {
    const { word, start, end } = each;
    recent.push({ word, start });
    if (recent.length > longest) recent.shift();
    const exact = new Set<number>();
    for (const term of byLastWord.get(word) ?? []) {
      const words = terms[term]?.words ?? [];
      const first = recent.length - words.length;
      const begin = recent[first];
      if (begin === undefined) continue;
      if (words.every((one, at) => recent[first + at]?.word === one)) {
        exact.add(term);
        yield { term, start: begin.start, end, isExact: true };
      }
    }
    if (!mayHaveStem(each)) continue;
    for (const form of [word, ...otherForms(text, each)]) {
      const term = byStem.get(form);
      if (term !== undefined && !exact.has(term)) yield { term, start, end, isExact: false };
    }
  }
}

/** How many hits are compared to find the best part of a text. */
const MAX_HITS = 200;
/** How many characters are searched word by word, which is slow. */
const MAX_SCANNED_CHARS = 50_000;
/** How many terms are searched for, exactly as written, in the whole of a long text. */
const MAX_SOUGHT = 4;

/**
 * The part of a text that has the most different terms of a search, in one line; what was found
 * stands between `[` and `]`.
 *
 * @param text the whole text
 * @param terms as `parseSearchQuery` gives them
 * @param maxChars of the part, without the brackets and the `…` where it was cut. 240 when absent
 * @returns one line
 */
export function searchSnippet(text: string, terms: readonly SearchTerm[], maxChars = 240): string {
  const hits = firstHits(text, terms, maxChars);
  const best = bestStart(hits, maxChars);
  const lead = Math.floor(maxChars / 4);
  const from = Math.max(0, Math.min(best - lead, text.length - maxChars));
  const to = Math.min(text.length, from + maxChars);
  let out = '';
  let at = from;
  for (const { start, end } of [...hits].sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (start < at || end > to) continue;
    out += `${text.slice(at, start)}[${text.slice(start, end)}]`;
    at = end;
  }
  out += text.slice(at, to);
  const line = out
    .toWellFormed()
    .replace(/[\s\uFFFD]+/gu, ' ')
    .trim();
  return `${from > 0 ? '…' : ''}${line}${to < text.length ? '…' : ''}`;
}

function firstHits(text: string, terms: readonly SearchTerm[], maxChars: number): TermHit[] {
  const hits: TermHit[] = [];
  const from = scanStart(text, terms);
  const scanned = from === 0 && text.length <= MAX_SCANNED_CHARS;
  const part = scanned ? text : text.slice(from, from + MAX_SCANNED_CHARS);
  for (const found of findTerms(part, terms)) {
    const hit = { ...found, start: found.start + from, end: found.end + from };
    const first = hits[0];
    // With a single term, the first place is as good as any other.
    if (terms.length === 1 && first !== undefined && hit.end - first.start > maxChars) break;
    hits.push(hit);
    if (hits.length === MAX_HITS) break;
  }
  return hits;
}

/**
 * In a long text, the first place where one of the terms stands exactly as written; 0 if there is
 * none.
 */
function scanStart(text: string, terms: readonly SearchTerm[]): number {
  if (text.length <= MAX_SCANNED_CHARS) return 0;
  const sought = terms.slice(0, MAX_SOUGHT).map(({ words, stem }) => {
    const written = words.slice(0, 3).map((word) => word.replaceAll(/[^\p{L}\p{N}]/gu, ''));
    const whole = `${written.join('[^\\p{L}\\p{N}]{0,20}')}(?![0-9A-Za-z])`;
    // Another form begins with the stem. The stem may have an `i` where the word has a `y`.
    return stem === undefined ? whole : `${whole}|${stem.replace(/(?<=..)i$/, '[iy]')}`;
  });
  const written = new RegExp(`(?<![0-9A-Za-z])(?:${sought.join('|')})`, 'iu');
  return written.exec(text)?.index ?? 0;
}

/** The start of the part with the most different terms. Among equal ones, the first. */
function bestStart(hits: readonly TermHit[], maxChars: number): number {
  let best = { start: hits[0]?.start ?? 0, count: 0 };
  hits.forEach(({ start }, index) => {
    const terms = new Set<number>();
    for (const hit of hits.slice(index)) {
      if (hit.end - start > (maxChars * 3) / 4) break;
      terms.add(hit.term);
    }
    if (terms.size > best.count) best = { start, count: terms.size };
  });
  return best.start;
}
