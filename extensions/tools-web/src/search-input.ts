import { z } from 'zod';

const MAX_QUERY_CHARS = 400;
const MAX_COUNT = 20;
const HOST =
  /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/i;

const country = z
  .string()
  .regex(/^[a-zA-Z]{2}$/, 'expected two letters, e.g. "CH"')
  .transform((code) => code.toUpperCase());
const lang = z
  .string()
  .regex(/^[a-zA-Z]{2,3}(?:-[a-zA-Z0-9]{2,8}){0,2}$/, 'expected a language tag, e.g. "de"');

/** The arguments of `web_search`. */
export const searchInput = z
  .strictObject({
    query: z
      .string()
      .trim()
      .min(1)
      .max(MAX_QUERY_CHARS)
      .describe('What to search for, in words as for a search engine.'),
    count: z
      .int()
      .min(1)
      .max(MAX_COUNT)
      .optional()
      .describe('Results to show at most. Leave out for a good default.'),
    freshness: z
      .enum(['day', 'week', 'month', 'year'])
      .optional()
      .describe('Only pages of the last day, week, month or year.'),
    since: z.iso
      .date()
      .optional()
      .describe('Only pages since this day, YYYY-MM-DD. Not together with freshness.'),
    site: z
      .string()
      .regex(HOST, 'expected a host, e.g. "example.com"')
      .optional()
      .describe('Only pages of this host, e.g. docs.python.org.'),
    country: country.optional().describe('Country to search from, two letters, e.g. CH.'),
    lang: lang.optional().describe('Language of the pages, e.g. de.'),
  })
  .refine(({ freshness, since }) => freshness === undefined || since === undefined, {
    path: ['since'],
    message: 'expected either since or freshness, not both',
  });

export type SearchArgs = z.infer<typeof searchInput>;

/** Returns the schema of the settings of `web_search`. @param ids the ids of the providers */
export function searchSettings(ids: readonly [string, ...string[]]) {
  return z.strictObject({
    provider: z
      .enum(ids)
      .optional()
      .describe('The provider to ask. The first that has a key when absent.'),
    count: z
      .int()
      .min(1)
      .max(MAX_COUNT)
      .default(5)
      .describe('Results to show when the call names no count.'),
    country: country.optional().describe('Country to search from when the call names none.'),
    lang: lang.optional().describe('Language of the pages when the call names none.'),
    timeout_ms: z
      .int()
      .min(100)
      .max(120_000)
      .default(15_000)
      .describe('Milliseconds that a search may take.'),
  });
}

export type SearchSettings = z.infer<ReturnType<typeof searchSettings>>;
