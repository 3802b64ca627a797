import { isWebUrl } from '@ethosagent/policy';
import { z } from 'zod';

const MAX_URL_CHARS = 8_192;

/** The arguments of `fetch_url`. */
export const fetchInput = z.strictObject({
  url: z
    .string()
    .max(MAX_URL_CHARS)
    .refine(
      isWebUrl,
      'expected an absolute URL that begins with http:// or https://, without a user name',
    )
    .describe('Absolute http or https URL.'),
  cursor: z
    .string()
    .optional()
    .describe(
      'The cursor at the end of an earlier answer for the same URL, to read on from there.',
    ),
  max_chars: z
    .int()
    .min(500)
    .max(200_000)
    .optional()
    .describe('Characters to show at most. Leave out for a good default.'),
  raw: z
    .boolean()
    .default(false)
    .describe('Show the source, such as HTML, rather than the main content as Markdown.'),
  fresh: z
    .boolean()
    .default(false)
    .describe('Ask the server even if there is a recent copy of the page.'),
});

export type FetchArgs = z.infer<typeof fetchInput>;

/** The settings of `fetch_url` that an operator may change. */
export const fetchSettings = z.strictObject({
  max_chars: z
    .int()
    .min(500)
    .max(200_000)
    .default(20_000)
    .describe('Characters that an answer may have.'),
  max_download_bytes: z
    .int()
    .min(1_024)
    .max(100 * 1024 * 1024)
    .default(10 * 1024 * 1024)
    .describe('Bytes that a body may have, unpacked.'),
  max_image_bytes: z
    .int()
    .min(0)
    .max(20 * 1024 * 1024)
    .default(5 * 1024 * 1024)
    .describe('Bytes that an image may have to be shown to the model.'),
  timeout_ms: z
    .int()
    .min(100)
    .max(300_000)
    .default(30_000)
    .describe('Milliseconds that a download and its conversion may take.'),
  cache: z.boolean().default(true).describe('Keep answers, as the rules of HTTP allow.'),
  accept_language: z
    .string()
    .regex(/^[\w,;=.* -]{1,200}$/)
    .optional()
    .describe('The languages that servers are asked for, e.g. de, en;q=0.5.'),
  user_agent: z
    .string()
    .regex(/^[\x20-\x7e]{1,300}$/)
    .optional()
    .describe('The User-Agent that servers get.'),
});

export type FetchSettings = z.infer<typeof fetchSettings>;
