import { defineTool, err, ok } from '@ethosagent/plugin-sdk';
import {
  type BoundSecret,
  EthosError,
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
  /** Those that personalities may choose from. Brave, Tavily and Exa when absent. */
  searchProviders?: readonly SearchProvider[];
}

type SearchContext = Pick<ToolContext, 'abortSignal' | 'dryRun' | 'resultBudgetChars'> & {
  scopedFetch: ScopedFetch;
  secretsResolver?: ScopedSecretsResolver;
  settings: SearchSettings;
};

interface SearchCapabilities {
  network: { allowedHosts: string[] };
  /** Absent where no provider has a key. */
  secrets?: BoundSecret[];
}

const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/**
 * Searches the web. Needs `network` for the hosts of its providers, and `secrets` for their keys, of
 * which each is bound to the host that it is for.
 *
 * @throws `CONFIG_INVALID` for no providers, or two of one id
 */
export function createWebSearchTool({
  searchProviders = [braveSearch(), tavilySearch(), exaSearch()],
}: WebSearchOptions = {}): Tool<SearchArgs> {
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
  const ids = [...providers.keys()];
  const id = ctx.settings.provider ?? (ids.length === 1 ? ids[0] : undefined);
  const provider = id === undefined ? undefined : providers.get(id);
  if (provider === undefined) {
    return err(
      `No search provider is chosen. Tell the user to set tool_settings.web_search.provider of the personality to one of ${ids.join(', ')}.`,
      'not_available',
    );
  }
  const query = queryOf(args, ctx.settings, provider);
  const ignored = provider.ignores.filter((name) => query[name] !== undefined);
  if (ctx.dryRun) {
    return ok(
      `[dry-run] Would ask ${provider.id} (${provider.hosts.join(', ')}) for ${query.count} results.`,
      {
        structured: { provider: provider.id, query: { ...query }, ignored },
      },
    );
  }
  const deadline = createDeadline(ctx.abortSignal, ctx.settings.timeout_ms);
  try {
    const now = Date.now();
    const response = await ask(ctx, { provider, query, signal: deadline.signal });
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
  } catch (error) {
    if (deadline.isOver) {
      return err(
        `${provider.id} did not answer within ${ctx.settings.timeout_ms} ms. Try once more later.`,
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

/** `undefined` for an answer that is too large. */
async function ask(
  { scopedFetch, secretsResolver }: SearchContext,
  {
    provider,
    query,
    signal,
  }: { provider: SearchProvider; query: SearchQuery; signal: AbortSignal },
): Promise<ProviderResponse | undefined> {
  // A stand-in, which only the provider's own hosts get the value of: this tool never has the key.
  const key = provider.secret && (await secretsResolver?.handle(provider.secret));
  const { url, init } = provider.request(query, key ?? '', Date.now());
  const response = await scopedFetch.fetch(url, { ...init, signal });
  const { bytes, isPartial } = await readBody(response, { maxBytes: MAX_ANSWER_BYTES });
  if (isPartial) return undefined;
  const { status, headers } = response;
  return { status, headers, body: parseJson(new TextDecoder().decode(bytes)) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
