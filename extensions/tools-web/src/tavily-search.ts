import { z } from 'zod';
import { providerUrl } from './provider-url.js';
import type {
  ProviderResponse,
  SearchProblem,
  SearchProvider,
  SearchProviderOptions,
} from './search-provider.js';

// Countries whose names at Tavily are not those of CLDR.
const COUNTRIES: Readonly<Record<string, string>> = {
  CZ: 'czech republic',
  MM: 'myanmar',
  TR: 'turkey',
};

const answer = z.object({
  results: z.array(
    z.object({
      title: z.string(),
      url: z.string(),
      content: z.string().nullish(),
      published_date: z.string().nullish(),
    }),
  ),
});
const failure = z.object({
  detail: z.union([z.string(), z.object({ error: z.string() }).transform(({ error }) => error)]),
});

/**
 * Creates the provider for the search of Tavily. By default, it asks `api.tavily.com` with the
 * secret `providers/tavily/apiKey`. It ignores the filter `lang`.
 *
 * Source: https://docs.tavily.com/documentation/api-reference/endpoint/search
 *
 * @param options another URL, or another ref of the key
 * @returns the provider, for `searchProviders`
 * @throws `CONFIG_INVALID` when `baseUrl` is not a valid URL
 */
export function tavilySearch({
  baseUrl = 'https://api.tavily.com/',
  secret = 'providers/tavily/apiKey',
}: SearchProviderOptions = {}): SearchProvider {
  const api = providerUrl(baseUrl);
  return {
    id: 'tavily',
    hosts: [api.host],
    secret,
    maxCount: 20,
    ignores: ['lang'],
    request: ({ query, count, freshness, since, site, country }, key) => ({
      url: api.at('search'),
      init: {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({
          query,
          max_results: count,
          search_depth: 'basic',
          topic: 'general',
          ...(since === undefined ? { time_range: freshness } : { start_date: since }),
          ...(site !== undefined && { include_domains: [site] }),
          ...(country !== undefined && { country: countryName(country) }),
        }),
      },
    }),
    answer(body) {
      const { data } = answer.safeParse(body);
      return (
        data && {
          results: data.results.map(({ title, url, content, published_date }) => ({
            title,
            url,
            snippet: content ?? '',
            publishedAt: published_date ?? undefined,
          })),
        }
      );
    },
    problem,
  };
}

function problem({ status, body }: ProviderResponse): SearchProblem | undefined {
  const detail = failure.safeParse(body).data?.detail;
  // The limits of the plan, and of pay-as-you-go.
  if (status === 432 || status === 433) return { kind: 'quota', detail };
  return undefined;
}

function countryName(code: string): string {
  const name = new Intl.DisplayNames('en', { type: 'region' }).of(code) ?? code;
  return COUNTRIES[code] ?? name.toLowerCase();
}
