import { similarity } from './similarity.js';
import { linesOf } from './text-lines.js';

const MAX_LINES_COMPARED = 5_000;
const MIN_SIMILARITY = 0.5;
const MIN_TELLING_CHARS = 3;
// A line that occurs everywhere does not help to find the place.
const MAX_POSITIONS = 20;

/** A range of lines of a file, counted from 1. */
export interface Region {
  startLine: number;
  lines: string[];
}

/**
 * Finds the range of a text that a search text most likely meant: the range with most of its lines
 * in their order. If the text has none of them, it is the line that is most similar to the longest
 * line of the search text.
 */
export function nearestRegion(text: string, search: string): Region | undefined {
  const lines = linesOf(text).map((line) => line.text);
  const wanted = linesOf(search).map((line) => line.text.trim());
  const start = startByEqualLines(lines, wanted) ?? startByLikeness(lines, wanted);
  if (start === undefined) return undefined;
  const from = Math.max(start, 0);
  const region = lines.slice(from, Math.max(start + wanted.length, from + 1));
  return region.length === 0 ? undefined : { startLine: from + 1, lines: region };
}

function startByEqualLines(
  lines: readonly string[],
  wanted: readonly string[],
): number | undefined {
  const positions = new Map<string, number[]>();
  for (const [at, line] of wanted.entries()) {
    if (line.length < MIN_TELLING_CHARS) continue;
    const known = positions.get(line) ?? [];
    if (known.length < MAX_POSITIONS) known.push(at);
    positions.set(line, known);
  }
  const votes = new Map<number, number>();
  for (const [at, line] of lines.entries()) {
    for (const position of positions.get(line.trim()) ?? []) {
      votes.set(at - position, (votes.get(at - position) ?? 0) + 1);
    }
  }
  return best(votes);
}

function startByLikeness(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const longest = wanted.reduce((a, b) => (b.length > a.length ? b : a), '');
  if (longest.length < MIN_TELLING_CHARS) return undefined;
  const offset = wanted.indexOf(longest);
  const scores = new Map<number, number>();
  for (const [at, line] of lines.slice(0, MAX_LINES_COMPARED).entries()) {
    const score = similarity(line.trim(), longest);
    if (score >= MIN_SIMILARITY) scores.set(at - offset, score);
  }
  return best(scores);
}

function best(scores: ReadonlyMap<number, number>): number | undefined {
  let winner: number | undefined;
  let highest = 0;
  for (const [candidate, score] of scores) {
    if (score <= highest) continue;
    winner = candidate;
    highest = score;
  }
  return winner;
}
