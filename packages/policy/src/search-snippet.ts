import { type SearchPhrase, searchWords } from './search-words.js';

/** A place where a phrase stands in a text, in UTF-16 units. */
export interface PhraseHit {
  /** The index of the phrase. */
  phrase: number;
  start: number;
  end: number;
}

/** Where phrases stand in a text, in the order of their ends. */
export function* findPhrases(text: string, phrases: readonly SearchPhrase[]): Generator<PhraseHit> {
  const byLastWord = new Map<string, number[]>();
  let longest = 0;
  phrases.forEach((words, index) => {
    const last = words.at(-1);
    if (last === undefined) return;
    byLastWord.set(last, [...(byLastWord.get(last) ?? []), index]);
    longest = Math.max(longest, words.length);
  });
  const recent: { word: string; start: number }[] = [];
  for (const { word, start, end } of searchWords(text)) {
    recent.push({ word, start });
    if (recent.length > longest) recent.shift();
    for (const phrase of byLastWord.get(word) ?? []) {
      const words = phrases[phrase] ?? [];
      const first = recent.length - words.length;
      const begin = recent[first];
      if (begin === undefined) continue;
      if (words.every((each, at) => recent[first + at]?.word === each)) {
        yield { phrase, start: begin.start, end };
      }
    }
  }
}

/** Hits that are looked at for the best part of a text. */
const MAX_HITS = 200;
/** Characters that are looked through word by word, which takes long. */
const MAX_SCANNED_CHARS = 50_000;
/** Phrases that are looked for, as they are written, in all of a long text. */
const MAX_SOUGHT = 4;

/**
 * The part of a text that has the most different phrases of a search, in one line; what was found
 * stands between `[` and `]`.
 *
 * @param maxChars of the part, without the brackets and the `…` where it was cut. 240 when absent
 */
export function searchSnippet(
  text: string,
  phrases: readonly SearchPhrase[],
  maxChars = 240,
): string {
  const hits = firstHits(text, phrases, maxChars);
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

function firstHits(text: string, phrases: readonly SearchPhrase[], maxChars: number): PhraseHit[] {
  const hits: PhraseHit[] = [];
  const from = scanStart(text, phrases);
  const scanned = from === 0 && text.length <= MAX_SCANNED_CHARS;
  const part = scanned ? text : text.slice(from, from + MAX_SCANNED_CHARS);
  for (const found of findPhrases(part, phrases)) {
    const hit = { ...found, start: found.start + from, end: found.end + from };
    const first = hits[0];
    // With one phrase the first place is as good as any.
    if (phrases.length === 1 && first !== undefined && hit.end - first.start > maxChars) break;
    hits.push(hit);
    if (hits.length === MAX_HITS) break;
  }
  return hits;
}

/** Where, in a long text, the first of the phrases begins as it is written; 0 where none is. */
function scanStart(text: string, phrases: readonly SearchPhrase[]): number {
  if (text.length <= MAX_SCANNED_CHARS) return 0;
  const sought = phrases
    .slice(0, MAX_SOUGHT)
    .map((words) => words.slice(0, 3).map((word) => word.replaceAll(/[^\p{L}\p{N}]/gu, '')))
    .map((words) => words.join('[^\\p{L}\\p{N}]{0,20}'));
  const written = new RegExp(`(?<![0-9A-Za-z])(?:${sought.join('|')})(?![0-9A-Za-z])`, 'iu');
  return written.exec(text)?.index ?? 0;
}

/** Where the stretch begins that has the most different phrases; the first of equals. */
function bestStart(hits: readonly PhraseHit[], maxChars: number): number {
  let best = { start: hits[0]?.start ?? 0, count: 0 };
  hits.forEach(({ start }, index) => {
    const phrases = new Set<number>();
    for (const hit of hits.slice(index)) {
      if (hit.end - start > (maxChars * 3) / 4) break;
      phrases.add(hit.phrase);
    }
    if (phrases.size > best.count) best = { start, count: phrases.size };
  });
  return best.start;
}
