import { assertOptions, type OptionNames } from '@ethosagent/policy';
import type { AnyTool } from '@ethosagent/types';
import { createFetchUrlTool, type FetchUrlOptions } from './fetch-url.js';
import { createWebSearchTool, type WebSearchOptions } from './web-search.js';

/** Options of `createWebTools`, for both tools. */
export interface WebToolsOptions extends FetchUrlOptions, WebSearchOptions {}

const OPTIONS: OptionNames<WebToolsOptions> = {
  maxRequestsPerHost: true,
  searchProviders: true,
};

/**
 * Creates `fetch_url` and `web_search`. Both set `outputIsUntrusted` and `supportsDryRun`: a dry
 * run checks the arguments and sends no request.
 *
 * @param options for both tools
 * @returns the two tools, ready to register
 * @throws `CONFIG_INVALID` when there is no search provider, or when two have the same id
 */
export function createWebTools(options: WebToolsOptions = {}): AnyTool[] {
  assertOptions('createWebTools', options, OPTIONS);
  const { searchProviders, ...forPages } = options;
  return [
    createFetchUrlTool(forPages),
    createWebSearchTool(searchProviders === undefined ? {} : { searchProviders }),
  ];
}
