import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import { assertOptions, type OptionNames, parseJson } from '@ethosagent/policy';
import {
  type BoundSecret,
  EthosError,
  errorCodeOf,
  type ScopedFetch,
  type ScopedSecretsResolver,
  type Tool,
  type ToolContext,
  type ToolResult,
} from '@ethosagent/types';
import { braveSearch } from './brave-search.js';
import { createDeadline } from './deadline.js';
import { exaSearch } from './exa-search.js';
import { fetchFailure } from './fetch-failure.js';
import { readBody } from './read-body.js';
import { renderSearch } from './render-search.js';
import {
  type SearchArgs,
  type SearchSettings,
  searchInput,
  searchSettings,
} from './search-input.js';
import { searchFailure } from './search-problem.js';
import type { ProviderResponse, SearchProvider, SearchQuery } from './search-provider.js';
import { cleanResults } from './search-results.js';
import { tavilySearch } from './tavily-search.js';

/** Options of `createWebSearchTool`. */
export interface WebSearchOptions {
  /** The providers that personalities may choose from. Brave, Tavily and Exa when absent. */
  searchProviders?: readonly SearchProvider[];
}

type SearchContext = Pick<ToolContext, 'abortSignal' | 'dryRun' | 'resultBudgetChars'> & {
  scopedFetch: ScopedFetch;
  secretsResolver?: ScopedSecretsResolver;
  settings: SearchSettings;
};

interface SearchCapabilities {
  network: { allowedHosts: string[] };
  /** Absent when no provider has a key. */
  secrets?: BoundSecret[];
}

const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

const OPTIONS: OptionNames<WebSearchOptions> = {
  searchProviders: true,
};

/**
 * Creates `web_search`, which searches the web. Needs `network` with the hosts of its providers,
 * and `secrets` with their keys, each bound to the hosts of its provider.
 *
 * @param options the providers, in the order in which they are tried; those that need no key are
 *   tried last
 * @returns the tool, ready to register
 * @throws `CONFIG_INVALID` when there is no provider, or when two have the same id
 */
export function createWebSearchTool(options: WebSearchOptions = {}): Tool<SearchArgs> {
  assertOptions('createWebSearchTool', options, OPTIONS);
  const { searchProviders = [braveSearch(), tavilySearch(), exaSearch()] } = options;
  const providers = new Map(searchProviders.map((provider) => [provider.id, provider]));
  const [first, ...others] = providers.keys();
  if (first === undefined || providers.size !== searchProviders.length) {
    throw new EthosError('CONFIG_INVALID', 'searchProviders: expected one or more, each id once');
  }
  return defineTool({
    name: 'web_search',
    description:
      'Search the web. Gives titles, addresses and short excerpts of pages; read a page with fetch_url. Excerpts are cut, so open a page before relying on it.',
    toolset: 'web',
    input: searchInput,
    settings: searchSettings([first, ...others]),
    capabilities: capabilitiesOf(searchProviders),
    outputIsUntrusted: true,
    supportsDryRun: true,
    execute: (args, ctx) => webSearch(args, ctx, providers),
  });
}

function capabilitiesOf(providers: readonly SearchProvider[]): SearchCapabilities {
  const secrets = providers.flatMap(({ secret, hosts }) =>
    secret === undefined ? [] : [{ ref: secret, hosts: [...hosts] }],
  );
  return {
    network: { allowedHosts: [...new Set(providers.flatMap(({ hosts }) => hosts))] },
    ...(secrets.length > 0 && { secrets }),
  };
}

async function webSearch(
  args: SearchArgs,
  ctx: SearchContext,
  providers: ReadonlyMap<string, SearchProvider>,
): Promise<ToolResult> {
  const { provider: chosen } = ctx.settings;
  const only = chosen === undefined ? undefined : providers.get(chosen);
  const candidates = only === undefined ? byKey([...providers.values()]) : [only];
  const [first, ...others] = candidates;
  if (first === undefined) return noKey(candidates);
  if (ctx.dryRun) return dryRun(args, ctx.settings, { first, isChosen: others.length === 0 });
  const deadline = createDeadline(ctx.abortSignal, ctx.settings.timeout_ms);
  let asked = first;
  try {
    for (const provider of candidates) {
      asked = provider;
      const result = await search(args, ctx, { provider, signal: deadline.signal }).catch(
        (error: unknown) => {
          // With a single provider, its own failure says more.
          if (others.length > 0 && isUnusable(error)) return undefined;
          throw error;
        },
      );
      if (result !== undefined) return result;
    }
    return noKey(candidates);
  } catch (error) {
    if (deadline.isOver) {
      return err(
        `${asked.id} did not answer within ${ctx.settings.timeout_ms} ms. Try once more later.`,
        'execution_failed',
        'CALL_TIMED_OUT',
      );
    }
    const failure = fetchFailure(error);
    if (failure === undefined) throw error;
    return failure;
  } finally {
    deadline.clear();
  }
}

/** Providers without a key come last: they are used when there is no other. */
function byKey(providers: readonly SearchProvider[]): SearchProvider[] {
  const needsKey = ({ secret }: SearchProvider) => secret !== undefined;
  return [...providers.filter(needsKey), ...providers.filter((one) => !needsKey(one))];
}

/** Whether an error says that the personality has no key for a provider, or may not reach it. */
function isUnusable(error: unknown): boolean {
  const code = errorCodeOf(error);
  return (
    code === 'SECRET_NOT_FOUND' ||
    code === 'SECRET_NOT_DECLARED' ||
    code === 'SECRET_NOT_BOUND' ||
    code === 'HOST_NOT_ALLOWED'
  );
}

function noKey(providers: readonly SearchProvider[]): ToolResult {
  const keys = providers.flatMap(({ id, secret }) =>
    secret === undefined ? [] : `${secret} (${id})`,
  );
  const next =
    keys.length === 0
      ? `to allow one of their hosts: ${providers.flatMap(({ hosts }) => hosts).join(', ')}`
      : `to store a key as one of ${keys.join(', ')}, and to allow the provider's host, or to set up SearXNG`;
  return err(`No search provider can be asked. Tell the user ${next}.`, 'not_available');
}

function dryRun(
  args: SearchArgs,
  settings: SearchSettings,
  { first, isChosen }: { first: SearchProvider; isChosen: boolean },
): ToolResult {
  const query = queryOf(args, settings, first);
  const ignored = first.ignores.filter((name) => query[name] !== undefined);
  const which = isChosen ? '' : ', or the first provider after it that has a key,';
  return ok(
    `[dry-run] Would ask ${first.id} (${first.hosts.join(', ')})${which} for ${query.count} results.`,
    { structured: { provider: first.id, query: { ...query }, ignored }, untrusted: false },
  );
}

/** Asks one provider. @throws the errors of `ScopedFetch.fetch` and of the secrets of the call */
async function search(
  args: SearchArgs,
  ctx: SearchContext,
  { provider, signal }: { provider: SearchProvider; signal: AbortSignal },
): Promise<ToolResult> {
  const query = queryOf(args, ctx.settings, provider);
  const ignored = provider.ignores.filter((name) => query[name] !== undefined);
  const now = Date.now();
  const response = await ask(ctx, { provider, query, signal });
  if (response === undefined) return err(`${provider.id} gave an answer that is too large.`);
  if (response.status !== 200) return searchFailure(provider, response, now);
  const answer = provider.answer(response.body);
  if (answer === undefined) {
    return err(`${provider.id} gave an answer that is not as documented. Try once more later.`);
  }
  const results = await cleanResults(answer.results, query);
  const { value, structured } = renderSearch(results, {
    provider: provider.id,
    query,
    ignored,
    notes: answer.notes ?? [],
    maxChars: ctx.resultBudgetChars,
  });
  return ok(value, {
    structured,
    ...(answer.costUsd !== undefined && { cost_usd: answer.costUsd }),
  });
}

function queryOf(
  args: SearchArgs,
  settings: SearchSettings,
  provider: SearchProvider,
): SearchQuery {
  const { query, freshness, since, site } = args;
  const country = args.country ?? settings.country;
  const lang = args.lang ?? settings.lang;
  return {
    query,
    count: Math.min(args.count ?? settings.count, provider.maxCount),
    ...(freshness !== undefined && { freshness }),
    ...(since !== undefined && { since }),
    ...(site !== undefined && { site: site.toLowerCase() }),
    ...(country !== undefined && { country }),
    ...(lang !== undefined && { lang }),
  };
}

/** Sends the request. Returns `undefined` when the answer is too large. */
async function ask(
  { scopedFetch, secretsResolver }: SearchContext,
  {
    provider,
    query,
    signal,
  }: { provider: SearchProvider; query: SearchQuery; signal: AbortSignal },
): Promise<ProviderResponse | undefined> {
  // A placeholder. The key replaces it on the way to the provider's own hosts, so this tool never has the key.
  const key = provider.secret && (await secretsResolver?.handle(provider.secret));
  const { url, init } = provider.request(query, key ?? '', Date.now());
  const response = await scopedFetch.fetch(url, { ...init, signal });
  const { bytes, isPartial } = await readBody(response, { maxBytes: MAX_ANSWER_BYTES });
  if (isPartial) return undefined;
  const { status, headers } = response;
  return { status, headers, body: parseJson(new TextDecoder().decode(bytes)) };
}
