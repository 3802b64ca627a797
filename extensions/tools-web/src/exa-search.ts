import { z } from 'zod';
import { providerUrl } from './provider-url.js';
import { firstDay } from './recent-days.js';
import type {
  ProviderResponse,
  SearchProblem,
  SearchProvider,
  SearchProviderOptions,
} from './search-provider.js';

const answer = z.object({
  results: z.array(
    z.object({
      title: z.string().nullish(),
      url: z.string(),
      publishedDate: z.string().nullish(),
      highlights: z.array(z.string()).nullish(),
      text: z.string().nullish(),
    }),
  ),
  costDollars: z
    .object({ total: z.number().min(0) })
    .nullish()
    .catch(undefined),
});
const failure = z.object({ error: z.string(), tag: z.string().optional() });

/**
 * Creates the provider for the search of Exa. By default, it asks `api.exa.ai` with the secret
 * `providers/exa/apiKey`. It ignores the filter `lang`.
 *
 * Source: https://docs.exa.ai/reference/search
 *
 * @param options another URL, or another ref of the key
 * @returns the provider, for `searchProviders`
 * @throws `CONFIG_INVALID` when `baseUrl` is not a valid URL
 */
export function exaSearch({
  baseUrl = 'https://api.exa.ai/',
  secret = 'providers/exa/apiKey',
}: SearchProviderOptions = {}): SearchProvider {
  const api = providerUrl(baseUrl);
  return {
    id: 'exa',
    hosts: [api.host],
    secret,
    maxCount: 20,
    ignores: ['lang'],
    request(query, key, now) {
      const day = firstDay(query, now);
      const body = {
        query: query.query,
        type: 'auto',
        numResults: query.count,
        contents: { highlights: true },
        ...(query.site !== undefined && { includeDomains: [query.site] }),
        ...(day !== undefined && { startPublishedDate: `${day}T00:00:00.000Z` }),
        ...(query.country !== undefined && { userLocation: query.country }),
      };
      return {
        url: api.at('search'),
        init: {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-api-key': key },
          body: JSON.stringify(body),
        },
      };
    },
    answer(body) {
      const { data } = answer.safeParse(body);
      return (
        data && {
          costUsd: data.costDollars?.total,
          results: data.results.map(({ title, url, publishedDate, highlights, text }) => ({
            title: title ?? '',
            url,
            snippet: highlights?.join(' … ') || text || '',
            publishedAt: publishedDate ?? undefined,
          })),
        }
      );
    },
    problem,
  };
}

function problem({ status, body }: ProviderResponse): SearchProblem | undefined {
  const { error: detail, tag = '' } = failure.safeParse(body).data ?? {};
  if (status === 402 || tag === 'NO_MORE_CREDITS') return { kind: 'quota', detail };
  if (tag === 'INVALID_API_KEY') return { kind: 'key', detail };
  return undefined;
}
