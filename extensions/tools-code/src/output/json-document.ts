import type { z } from 'zod';
import type { OutputParser } from './output-parser.js';
import { parseJson } from './parse-json.js';
import { WholeText } from './whole-text.js';

/** How many places are tried as the beginning of the document. */
const MAX_TRIES = 20;

/**
 * Reads a report that is one JSON document on standard output. Lines before it are skipped, because
 * a configuration is code and may print.
 */
export function jsonDocument<S extends z.ZodType, R>(
  schema: S,
  toReport: (document: z.output<S>) => R,
): OutputParser<R> {
  const output = new WholeText();
  return {
    add: (text, stream) => {
      if (stream === 'stdout') output.add(text);
    },
    end: () => {
      const text = output.text() ?? '';
      for (const start of beginnings(text)) {
        const document = parseJson(schema, text.slice(start));
        if (document !== undefined) return toReport(document);
      }
      return undefined;
    },
  };
}

function* beginnings(text: string): Generator<number> {
  const pattern = /^[[{]/gm;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const match = pattern.exec(text);
    if (match === null) return;
    yield match.index;
  }
}
