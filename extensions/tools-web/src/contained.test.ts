import { assertContained, type ContainmentOptions } from '@ethosagent/conformance';
import { countTries, isLongRun, seedOfRun, unlessLong } from '@ethosagent/test-support';
import { describe, expect, it } from 'vitest';
import { braveSearch } from './brave-search.js';
import { exaSearch } from './exa-search.js';
import { createFetchUrlTool } from './fetch-url.js';
import { ARTICLE } from './fixtures/article.js';
import {
  BRAVE_ANSWER,
  EXA_ANSWER,
  SEARXNG_ANSWER,
  TAVILY_ANSWER,
} from './fixtures/provider-answers.js';
import { searxngSearch } from './searxng-search.js';
import { tavilySearch } from './tavily-search.js';
import { createWebSearchTool } from './web-search.js';

const html = (text: string) => new Response(text, { headers: { 'content-type': 'text/html' } });

/** Those that have most to do with the network; a long run tries all. */
const scenarios: Pick<ContainmentOptions, 'scenarios'> = unlessLong({
  scenarios: ['hostile arguments', 'redirects', 'aborts'],
});

describe('assertContained finds nothing that it reached', () => {
  it('by fetch_url', async (context) => {
    const options: ContainmentOptions = {
      args: ({ url }) => [{ url: url('/page') }, { url: url('/page'), raw: true, fresh: true }],
      answer: (_, { token }) => html(`${ARTICLE}<p>${token}</p>`),
      personality: { safety: { network: { allow: ['public.example'] } } },
    };
    const { tries, unused } = await assertContained(createFetchUrlTool(), {
      ...options,
      ...scenarios,
      seed: seedOfRun(),
    });
    expect(unused).toEqual([]);
    for (const [promised, count] of tries) countTries(context, promised, count);
  });

  const providers = [
    [braveSearch(), BRAVE_ANSWER],
    [tavilySearch(), TAVILY_ANSWER],
    [exaSearch(), EXA_ANSWER],
    [searxngSearch({ baseUrl: 'https://searx.example' }), SEARXNG_ANSWER],
  ] as const;
  it.runIf(isLongRun()).each(providers)('by web_search with $id', async (provider, answer) => {
    const tool = createWebSearchTool({ searchProviders: [provider] });
    const { unused } = await assertContained(tool, {
      args: [{ query: 'tide tables' }, { query: 'tides', count: 3, site: 'tides.example' }],
      answer: () => Response.json(answer),
    });
    expect(unused).toEqual([]);
  });
});
