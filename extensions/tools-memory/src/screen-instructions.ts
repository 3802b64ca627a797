import { type Finding, lineAt } from './finding.js';
import { foldedText, joinedLetters, plainText, visibleText } from './fold-text.js';
import {
  FOREIGN_PATTERNS,
  MARKUP_PATTERNS,
  PHRASE_PATTERNS,
  UNSPACED_PATTERNS,
} from './instruction-patterns.js';
import { wordStream } from './word-stream.js';

// Tag characters can spell a text that nobody sees; only the flags of England, Scotland and Wales use them
// visibly. Direction overrides show a text in another order than a model reads it.
const HIDDEN =
  /\u{1F3F4}\u{E0067}\u{E0062}[\u{E0061}-\u{E007A}]{3}\u{E007F}|(?<hidden>[\u{E0000}-\u{E007F}\u202D\u202E]|(?![\t\n\r])\p{Cc})/gu;

/** Finds text that tries to command the model that reads it. */
export function findInstructions(text: string): Finding[] {
  const findings: Finding[] = [];
  const add = (what: string, view: string, index: number) =>
    findings.push({ kind: 'instructions', what, line: lineAt(view, index) });
  for (const { index, groups } of text.matchAll(HIDDEN)) {
    if (groups?.hidden !== undefined) add('hidden or control characters', text, index);
  }
  const inText = (view: string, patterns: typeof MARKUP_PATTERNS) => {
    for (const [what, pattern] of patterns) {
      for (const { index, 0: found } of view.matchAll(pattern)) {
        add(what, view, index + (found.length - found.trimStart().length));
      }
    }
  };
  const inWords = (view: string, patterns: typeof PHRASE_PATTERNS) => {
    const stream = wordStream(view);
    for (const [what, pattern] of patterns) {
      for (const { index } of stream.text.matchAll(pattern)) {
        add(what, view, stream.originOf(index));
      }
    }
  };
  const plain = plainText(text);
  const folded = foldedText(text);
  const joined = joinedLetters(folded);
  inText(plain, UNSPACED_PATTERNS);
  inWords(plain, FOREIGN_PATTERNS);
  for (const view of new Set([plain, folded, joined])) {
    inText(view, MARKUP_PATTERNS);
    inWords(view, PHRASE_PATTERNS);
  }
  // `</s>` is a token of Llama and Mistral. In a pair with `<s>` it is HTML for a text that is struck out.
  inText(visibleText(text), [['a chat-template token', /(?<!<s>[^<\n]{0,200})<\/s>/gu]]);
  return findings;
}
