import { z } from 'zod';
import { oneLine } from './one-line.js';
import { providerUrl } from './provider-url.js';
import { spanSince } from './recent-days.js';
import type {
  ProviderResponse,
  SearchProblem,
  SearchProvider,
  SearchQuery,
} from './search-provider.js';

const MAX_NAMED_ENGINES = 5;
const MAX_ENGINE_CHARS = 60;

const answer = z.object({
  results: z.array(
    z.object({
      title: z.string().nullish(),
      url: z.string(),
      content: z.string().nullish(),
      publishedDate: z.string().nullish(),
    }),
  ),
  unresponsive_engines: z
    .array(z.tuple([z.string(), z.string()], z.unknown()))
    .optional()
    .catch(undefined),
});

/**
 * Creates the provider for your own instance of SearXNG, which needs no key. The settings of the
 * instance have to allow `json` in `search.formats`. It passes `site` on to its engines. For
 * `since`, it asks for the shortest span that reaches back that far. The tool leaves out results
 * whose date is older.
 *
 * Source: https://docs.searxng.org/dev/search_api.html
 *
 * @param options `baseUrl` is the URL of the instance
 * @returns the provider, for `searchProviders`
 * @throws `CONFIG_INVALID` when `baseUrl` is not a valid URL
 */
export function searxngSearch({ baseUrl }: { baseUrl: string }): SearchProvider {
  const api = providerUrl(baseUrl);
  return {
    id: 'searxng',
    hosts: [api.host],
    maxCount: 20,
    ignores: [],
    request: (query, _, now) => ({
      url: api.at('search', {
        q: query.site === undefined ? query.query : `${query.query} site:${query.site}`,
        format: 'json',
        language: languageOf(query),
        time_range: query.since === undefined ? query.freshness : spanSince(query.since, now),
      }),
      init: { headers: { accept: 'application/json' } },
    }),
    answer(body) {
      const { data } = answer.safeParse(body);
      if (data === undefined) return undefined;
      const silent = (data.unresponsive_engines ?? [])
        .slice(0, MAX_NAMED_ENGINES)
        .map(([engine, reason]) => `${engineText(engine)} (${engineText(reason)})`);
      return {
        results: data.results.map(({ title, url, content, publishedDate }) => ({
          title: title ?? '',
          url,
          snippet: content ?? '',
          publishedAt: publishedDate ?? undefined,
        })),
        notes: silent.length > 0 ? [`Engines that did not answer: ${silent.join(', ')}.`] : [],
      };
    },
    problem,
  };
}

function problem({ status }: ProviderResponse): SearchProblem | undefined {
  if (status !== 403) return undefined;
  return { kind: 'setup', detail: 'it has to allow `json` among `search.formats` in its settings' };
}

function languageOf({ lang, country }: SearchQuery): string | undefined {
  if (lang === undefined) return undefined;
  return country === undefined || lang.includes('-') ? lang : `${lang}-${country}`;
}

function engineText(text: string): string {
  return oneLine(text, MAX_ENGINE_CHARS);
}
