import { isObject } from '@ethosagent/policy';
import type { ToolDefinition } from '@ethosagent/types';
import MiniSearch, { type SearchOptions } from 'minisearch';
import { meaningsOf, stemOf, termsOf, wordsOf } from './search-words.js';

/** How much a word counts in each place. */
const WEIGHTS = { name: 3, description: 1, args: 0.3, about: 0.3 };
/** From this many letters on, a word is also found by its start, or with a slip. */
const MIN_PREFIX = 4;
const MIN_FUZZY = 5;
/** How much another word for the same thing counts. */
const MEANING = 0.5;
/** How much it counts that many words of a query match. */
const COVERAGE = 0.7;

/** Finds tools by a description of what is needed. */
export interface ToolIndex {
  /** The names of the tools, the best first. */
  search(query: string, limit: number): string[];
}

/** Indexes names and descriptions, of tools and of their arguments. */
export function createToolIndex(definitions: readonly ToolDefinition[]): ToolIndex {
  const index = new MiniSearch({
    idField: 'tool',
    fields: Object.keys(WEIGHTS),
    tokenize: wordsOf,
    processTerm: (word) => termsOf(word),
  });
  index.addAll(
    definitions.map(({ name, description, parameters }) => {
      const args = argumentsOf(parameters, 0);
      return {
        tool: name,
        name,
        description,
        args: args.map((each) => each.name).join(' '),
        about: args.map((each) => each.about).join(' '),
      };
    }),
  );
  const names = new Map(definitions.map(({ name }) => [name.toLowerCase(), name]));

  /** How well each tool matches a word of the query. */
  const scoresOf = (word: string) => {
    const best = new Map<string, number>();
    const count = (term: string, weight: number, options: SearchOptions) => {
      const asked = {
        ...options,
        boost: WEIGHTS,
        tokenize: (text: string) => [text],
        processTerm: (text: string) => text,
      };
      for (const { id, score } of index.search(term, asked)) {
        best.set(id, Math.max(best.get(id) ?? 0, score * weight));
      }
    };
    const stem = stemOf(word);
    count(stem, 1, {
      prefix: stem.length >= MIN_PREFIX,
      fuzzy: stem.length >= MIN_FUZZY ? 0.2 : false,
      // A word that matches exactly counts more.
      weights: { prefix: 0.4, fuzzy: 0.2 },
    });
    for (const meaning of meaningsOf(word)) count(meaning, MEANING, {});
    return best;
  };

  return {
    search(query, limit) {
      const named = names.get(query.trim().toLowerCase());
      const words = [...new Set(wordsOf(query.slice(0, 1_000)))].filter(
        (word) => termsOf(word) !== null,
      );
      const total = new Map<string, { score: number; words: number }>();
      for (const word of words.slice(0, MAX_WORDS)) {
        for (const [name, score] of scoresOf(word)) {
          const before = total.get(name) ?? { score: 0, words: 0 };
          total.set(name, { score: before.score + score, words: before.words + 1 });
        }
      }
      const rank = ({ score, words: fit }: { score: number; words: number }) =>
        score * (fit / words.length) ** COVERAGE;
      const found = [...total]
        .sort(([, a], [, b]) => rank(b) - rank(a))
        .map(([name]) => name)
        .filter((name) => name !== named);
      return [...(named === undefined ? [] : [named]), ...found].slice(0, limit);
    },
  };
}

const MAX_WORDS = 50;
const MAX_LEVELS = 3;

function argumentsOf(schema: unknown, level: number): { name: string; about: string }[] {
  if (!isObject(schema) || level > MAX_LEVELS) return [];
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  return [
    ...properties.flatMap(([name, value]) => {
      const about =
        isObject(value) && typeof value.description === 'string' ? value.description : '';
      return [{ name, about }, ...argumentsOf(value, level + 1)];
    }),
    ...argumentsOf(schema.items, level + 1),
  ];
}
