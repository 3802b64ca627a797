import { z } from 'zod';
import { providerUrl } from './provider-url.js';
import { dayOf } from './recent-days.js';
import type {
  ProviderResponse,
  SearchProblem,
  SearchProvider,
  SearchProviderOptions,
  SearchQuery,
} from './search-provider.js';

const FRESHNESS = { day: 'pd', week: 'pw', month: 'pm', year: 'py' } as const;
// Languages whose codes at Brave are not those of ISO 639.
const LANGUAGES: Readonly<Record<string, string>> = {
  ja: 'jp',
  pt: 'pt-pt',
  zh: 'zh-hans',
  'zh-cn': 'zh-hans',
  'zh-tw': 'zh-hant',
};
const REGIONAL = ['en-gb', 'pt-br', 'pt-pt', 'zh-hans', 'zh-hant'];
// A longer window is the limit of the plan, not the limit per second.
const SHORT_WINDOW_SECONDS = 60;

const answer = z.object({
  web: z
    .object({
      results: z.array(
        z.object({
          title: z.string(),
          url: z.string(),
          description: z.string().nullish(),
          page_age: z.string().nullish(),
        }),
      ),
    })
    .nullish(),
});
const failure = z.object({ error: z.object({ code: z.string(), detail: z.string().nullish() }) });

/**
 * Creates the provider for the web search of Brave. By default, it asks `api.search.brave.com` with
 * the secret `providers/brave/apiKey`.
 *
 * Source: https://api-dashboard.search.brave.com/app/documentation
 *
 * @param options another URL, or another ref of the key
 * @returns the provider, for `searchProviders`
 * @throws `CONFIG_INVALID` when `baseUrl` is not a valid URL
 */
export function braveSearch({
  baseUrl = 'https://api.search.brave.com/res/v1/',
  secret = 'providers/brave/apiKey',
}: SearchProviderOptions = {}): SearchProvider {
  const api = providerUrl(baseUrl);
  return {
    id: 'brave',
    hosts: [api.host],
    secret,
    maxCount: 20,
    ignores: [],
    request: (query, key, now) => ({
      url: api.at('web/search', {
        q: query.site === undefined ? query.query : `${query.query} site:${query.site}`,
        count: String(query.count),
        result_filter: 'web',
        text_decorations: 'false',
        country: query.country,
        search_lang: languageOf(query),
        freshness: freshnessOf(query, now),
      }),
      init: { headers: { accept: 'application/json', 'x-subscription-token': key } },
    }),
    answer(body) {
      const { data } = answer.safeParse(body);
      return (
        data && {
          results: (data.web?.results ?? []).map(({ title, url, description, page_age }) => ({
            title,
            url,
            snippet: description ?? '',
            publishedAt: page_age ?? undefined,
          })),
        }
      );
    },
    problem,
  };
}

function freshnessOf({ freshness, since }: SearchQuery, now: number): string | undefined {
  if (since !== undefined) return `${since}to${dayOf(now)}`;
  return freshness && FRESHNESS[freshness];
}

function languageOf({ lang }: SearchQuery): string | undefined {
  const tag = lang?.toLowerCase();
  if (tag === undefined || REGIONAL.includes(tag)) return tag;
  const [language = ''] = tag.split('-');
  return LANGUAGES[tag] ?? LANGUAGES[language] ?? language;
}

function problem({ status, headers, body }: ProviderResponse): SearchProblem | undefined {
  const { code = '', detail } = failure.safeParse(body).data?.error ?? {};
  const said = { detail: detail ?? undefined };
  // Brave answers 422, too, when a key is malformed or missing.
  if (/SUBSCRIPTION_TOKEN|SUBSCRIPTION_NOT_FOUND/.test(code)) return { kind: 'key', ...said };
  if (status !== 429) return undefined;
  const windows = windowsOf(headers);
  const spent = windows.filter(({ remaining }) => remaining === 0);
  const reset = Math.max(0, ...(spent.length > 0 ? spent : windows).map((window) => window.reset));
  const retry = reset > 0 ? { retrySeconds: reset } : {};
  const isPlan = code === 'QUOTA_LIMITED' || (spent.length > 0 && reset > SHORT_WINDOW_SECONDS);
  return { kind: isPlan ? 'quota' : 'rate', ...said, ...retry };
}

/**
 * Reads the limits of the plan, one window for each: `X-RateLimit-Remaining: 0, 1200` with
 * `X-RateLimit-Reset: 1, 86400`.
 */
function windowsOf(headers: Headers): Array<{ remaining: number; reset: number }> {
  const remaining = numbersOf(headers.get('x-ratelimit-remaining'));
  return numbersOf(headers.get('x-ratelimit-reset')).map((reset, at) => ({
    reset,
    remaining: remaining[at] ?? Number.NaN,
  }));
}

function numbersOf(header: string | null): number[] {
  return (header ?? '')
    .slice(0, 200)
    .split(',')
    .filter((text) => /^\s*\d{1,9}\s*$/.test(text))
    .map(Number);
}
